// The plan in the address: its fragment, or its query where there is no fragment.
var address = {
  $written: { hash: null },  // by us: the browser tells of our own writes too

  vram_js_listen_location: function() {
    var changed = function() {
      if (location.hash === written.hash) return;
      written.hash = null;
      _vram_location_changed();
    };
    window.addEventListener('hashchange', changed);
    window.addEventListener('popstate', changed);
  },
  vram_js_location: function() { return page.toC(location.hash.length > 1 ? location.hash : location.search); },

  vram_js_write_location: function(share, push) {
    // A query that held the plan would contradict the fragment.
    var query = location.hash.length > 1 || written.hash ? location.search : '';
    var url = location.pathname + query + '#' + UTF8ToString(share);
    try {
      if (push) history.pushState(null, '', url);
      else history.replaceState(null, '', url);
    } catch (error) {
      return false;
    }
    written.hash = location.hash;
    return true;
  },

  vram_js_link: function(share) { return page.toC(location.href.split(/[?#]/)[0] + '#' + UTF8ToString(share)); },
  vram_js_open: function(link) { window.open(UTF8ToString(link), '_blank', 'noopener'); },
};
autoAddDeps(address, '$page');
autoAddDeps(address, '$written');
mergeInto(LibraryManager.library, address);
