// What comes later, or never: the rest of the program (web/rest.js), a language, an organisation's presets.
var later = {
  vram_js_is_whole: function() {
    if (Module['rest'] === 'unasked') Module['fetchRest']();
    return Module['rest'] === 'here';
  },
  vram_js_has_rest: function() { return Module['rest'] === 'here'; },
  vram_js_is_broken: function() { return Module['rest'] === 'missing'; },

  // A site keeps a language in two files beside the page; the page of one file has them in itself.
  vram_js_fetch_language: function(pointer) {
    var name = UTF8ToString(pointer);
    var fetched = function(file) {
      var inside = Module['files'] && Module['files'][file];
      if (inside) return Promise.resolve(inside);
      return fetch(Module['locateFile'](file, '')).then(function(response) {
        if (!response.ok) throw new Error(file + ': ' + response.status);
        return response.arrayBuffer();
      }).then(function(bytes) { return new Uint8Array(bytes); });
    };
    Promise.all([fetched(name + '.txt'), fetched(name + '.otf'), Module['fetchRest']()]).then(function(files) {
      var at = _malloc(files[0].length + files[1].length);
      HEAPU8.set(files[0], at);
      HEAPU8.set(files[1], at + files[0].length);
      _vram_language_arrived(at, files[0].length, files[1].length);
    }).catch(function() { _vram_language_arrived(0, 0, 0); });
  },

  // A copy of the page for when there is no network (sw.js), once the first sight is long done; not of the page of one
  // file, nor in a frame. What was fetched before it came goes through it again, out of the browser's own cache.
  vram_js_keep_copy: function() {
    if (Module['files'] || page.framed || location.protocol.indexOf('http') !== 0) return;
    try {
      var workers = navigator.serviceWorker;
    } catch (error) {
      return;  // a sandbox refuses the question
    }
    if (!workers) return;
    setTimeout(function() {
      if (!workers.controller) workers.addEventListener('controllerchange', function() {
        performance.getEntriesByType('resource').forEach(function(entry) {
          if (entry.name.indexOf('?v=') > 0) fetch(entry.name).catch(function() {});
        });
      }, { once: true });
      workers.register(Module['locateFile']('sw.js', '')).catch(function() {});  // a private window has none
    }, 3000);
  },

  // What an organisation keeps beside its page; the page of one file has no such thing.
  vram_js_fetch_site: function() {
    if (Module['files']) return;
    fetch('site.json').then(function(response) { return response.ok ? response.text() : ''; }).then(function(text) {
      if (text && text.trim() !== '{}') Module['fetchRest']().then(function() { page.send(_vram_site_arrived, text); });
    }).catch(function() {});  // nothing depends on it
  },
};
autoAddDeps(later, '$page');
mergeInto(LibraryManager.library, later);
