// What the other libraries of this folder share. emcc links these files into vram-ledger.js (--js-library): a function
// here is one that C++ declares `extern "C"`, a name with $ is the page's own. _vram_NAME are the functions that C++
// offers (events.cc).
mergeInto(LibraryManager.library, {
  $page__postset: "page.canvas = Module['canvas']; page.framed = window.parent !== window;" +
      "page.dark = matchMedia('(prefers-color-scheme: dark)');",
  $page: {
    /// A text in the program's memory; who takes it frees it.
    toC: function(text) {
      var size = lengthBytesUTF8(text) + 1;
      var at = _malloc(size);
      stringToUTF8(text, at, size);
      return at;
    },
    send: function(call, text) {
      var at = page.toC(text);
      call(at);
      _free(at);
    },
    /// In the page's language.
    say: function(text) {
      if (!text.trim() || document.documentElement.lang === 'en') return text;
      var at = page.toC(text);
      var said = UTF8ToString(_vram_say(at));
      _free(at);
      return said;
    },
    density: function() { return window.devicePixelRatio || 1; },
  },
});
