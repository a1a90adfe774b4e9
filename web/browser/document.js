// The document behind the canvas: what a screen reader, a printer and a browser without WebGL get.
var report = {
  /// Markdown as our own writer prints it: headings, tables, lists, fences, paragraphs. Text only ever becomes text nodes.
  $markdown: {
    bar: '\x01',  // stands for one that is escaped
    plain: function(text) {
      var entities = { nbsp: '\u00a0', lt: '<', gt: '>', amp: '&', quot: '"' };
      return text.split(markdown.bar).join('|').split('\\').join('').replace(/&([a-z]+);/g, function(all, name) { return entities[name] || all; });
    },
    add: function(parent, name, text) {
      var element = document.createElement(name);
      (text || '').split(/([*][*][^*]+[*][*]|`[^`]+`)/).forEach(function(piece) {
        if (/^[*][*].+[*][*]$/.test(piece)) element.appendChild(document.createElement('strong')).textContent = page.say(markdown.plain(piece.slice(2, -2)));
        else if (/^`.+`$/.test(piece)) element.appendChild(document.createElement('code')).textContent = markdown.plain(piece.slice(1, -1));
        else element.appendChild(document.createTextNode(page.say(markdown.plain(piece))));
      });
      parent.appendChild(element);
      return element;
    },
    addRow: function(table, line, cell) {
      var row = markdown.add(table, 'tr');
      line.trim().split('|').slice(1, -1).forEach(function(text) { markdown.add(row, cell, text.trim()); });
    },
    /// The elements that a text becomes.
    read: function(text) {
      var into = document.createDocumentFragment();
      var block = null;  // what the next line may go on with: { fence or table or list, element }
      text.split('\\|').join(markdown.bar).split('\n').forEach(function(line) {
        var heading = /^(#+) (.*)/.exec(line);
        var item = /^ *[-*] (.*)/.exec(line);
        if (block && block.fence) {
          if (/^```/.test(line)) block = null;
          else block.element.appendChild(document.createTextNode(line + '\n'));
        } else if (/^```/.test(line)) {
          block = { fence: true, element: markdown.add(into, 'pre') };
        } else if (heading) {
          markdown.add(into, 'h' + Math.min(6, heading[1].length), heading[2]);
          block = null;
        } else if (/^[|][ :|-]+[|] *$/.test(line)) {
          return;
        } else if (/^[|]/.test(line)) {
          var first = !block || !block.table;
          if (first) block = { table: true, element: markdown.add(into, 'table') };
          markdown.addRow(block.element, line, first ? 'th' : 'td');
        } else if (item) {
          if (!block || !block.list) block = { list: true, element: markdown.add(into, 'ul') };
          markdown.add(block.element, 'li', item[1]);
        } else {
          block = null;
          if (line.trim()) markdown.add(into, 'p', line);
        }
      });
      return into;
    },
  },

  vram_js_document: function(text) {
    var report = document.getElementById('report');
    report.textContent = '';
    report.appendChild(markdown.read(UTF8ToString(text)));
  },
  vram_js_announce: function(text) { document.getElementById('summary').textContent = page.say(UTF8ToString(text)); },
  vram_js_title: function(text) { document.title = UTF8ToString(text); },

  vram_js_theme: function(dark) { document.documentElement.dataset.theme = dark ? 'dark' : 'light'; },
  vram_js_prefers_dark: function() { return page.dark.matches; },

  vram_js_browser_language: function() { return page.toC(navigator.language || 'en'); },
  vram_js_document_language: function(name) { document.documentElement.lang = UTF8ToString(name); },
};
autoAddDeps(report, '$markdown');
autoAddDeps(report, '$page');
mergeInto(LibraryManager.library, report);
