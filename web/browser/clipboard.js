// What goes out of the page and what comes in: copies, pastes, files.
var clipboard = {
  /// `copied`: what was copied or pasted last, for the program's own boxes.
  $exchange: {
    copied: '',
    /// A text for the program to read, which takes the rest of it.
    arrived: function(text) {
      Module['fetchRest']().then(function() { page.send(_vram_text_arrived, text); }, function() {});  // vram_rest tells
    },
  },

  vram_js_listen_text: function() {
    var largest = 1 << 20;
    window.addEventListener('paste', function(event) {
      var text = event.clipboardData ? event.clipboardData.getData('text/plain') : '';
      if (!text) return;
      exchange.copied = text;
      if (text.length <= largest && (!_vram_is_typing() || text.trim()[0] === '{')) exchange.arrived(text);
    });
    window.addEventListener('dragover', function(event) { event.preventDefault(); });
    window.addEventListener('drop', function(event) {
      event.preventDefault();
      event.stopImmediatePropagation();
      var file = event.dataTransfer.files[0];
      if (file && file.size > largest) return exchange.arrived(file.name + ': larger than 1 MiB');
      if (file) return file.text().then(exchange.arrived);
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
