// What goes out of the page and what comes in: copies, pastes, files.
var clipboard = {
  /// `copied`: what was copied or pasted last, for the program's own boxes.
  $exchange: {
    copied: '',
    /// A text for the program to read, which takes the rest of it.
    arrived: function(text, leftOut) {
      Module['fetchRest']().then(function() {
        var at = page.toC(text);
        _vram_text_arrived(at, leftOut || 0);
        _free(at);
      }, function() {});  // vram_rest tells
    },
    head: 2 << 20, tail: 6 << 20,  // as many bytes as are read of a log
    /// Of a text of `all` bytes the whole lines of its beginning and of its end.
    ends: function(first, last, all) {
      first = first.slice(0, first.lastIndexOf('\n') + 1 || first.length);
      last = last.slice(last.indexOf('\n') + 1);
      exchange.arrived(first + last, all - first.length - last.length);
    },
  },

  vram_js_listen_text: function() {
    var most = exchange.head + exchange.tail;
    window.addEventListener('paste', function(event) {
      var text = event.clipboardData ? event.clipboardData.getData('text/plain') : '';
      if (!text) return;
      exchange.copied = text;
      if (_vram_is_typing() && text.trim()[0] !== '{') return;
      if (text.length <= most) return exchange.arrived(text);
      exchange.ends(text.slice(0, exchange.head), text.slice(-exchange.tail), text.length);
    });
    window.addEventListener('dragover', function(event) { event.preventDefault(); });
    window.addEventListener('drop', function(event) {
      event.preventDefault();
      event.stopImmediatePropagation();
      var file = event.dataTransfer.files[0];
      if (file && file.size > most) {
        var parts = [file.slice(0, exchange.head), file.slice(-exchange.tail)];
        return Promise.all(parts.map(function(part) { return part.text(); })).then(function(texts) {
          exchange.ends(texts[0], texts[1], file.size);
        });
      }
      if (file) return file.text().then(function(text) { exchange.arrived(text); });
      var text = event.dataTransfer.getData('text/plain');
      if (text) exchange.arrived(text);
    }, true);
  },

  vram_js_copy: function(pointer) {
    var text = exchange.copied = UTF8ToString(pointer);
    var byHand = function() {  // no clipboard on plain http, or not in this frame
      var area = document.createElement('textarea');
      area.value = text;
      area.style.position = 'fixed';
      area.style.opacity = 0;
      document.body.appendChild(area);
      area.select();
      document.execCommand('copy');
      area.remove();
      page.canvas.focus();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(byHand);
    else byHand();
  },
  vram_js_copied: function() { return page.toC(exchange.copied); },

  vram_js_paste: function() {
    if (!navigator.clipboard || !navigator.clipboard.readText) return;
    navigator.clipboard.readText().then(function(text) { if (text) exchange.arrived(text); }, function() {});
  },

  vram_js_download: function(name, type, text) {
    var link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([UTF8ToString(text)], { type: UTF8ToString(type) }));
    link.download = UTF8ToString(name);
    link.click();
    setTimeout(function() { URL.revokeObjectURL(link.href); }, 10000);
  },
};
autoAddDeps(clipboard, '$exchange');
autoAddDeps(clipboard, '$page');
mergeInto(LibraryManager.library, clipboard);
