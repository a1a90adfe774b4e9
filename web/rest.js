// The program comes in two parts: what the first sight needs, and the rest, which is fetched when somebody touches the
// page or opens a view that needs it (tools/link_page.mjs says what is where). The rest fills places in the program's
// function table; where one is called that is still empty, the rest is fetched there and then, while the page waits.
(function() {
  var name = 'vram-ledger-rest.wasm';
  var imports, program, table, asked;

  var address = function() { return Module['locateFile'](name, ''); };
  var inside = function() { return Module['files'] && Module['files'][name]; };  // of the page of one file
  var started = function(instance) {
    if (Module['rest'] === 'here') return;
    Module['rest'] = 'here';
    if (Module['_vram_rest']) Module['_vram_rest']();
  };
  var joined = function() {
    var both = { 'primary': program };
    Object.keys(imports).forEach(function(each) { both[each] = imports[each]; });
    return both;
  };

  var read = function() {
    var request = new XMLHttpRequest();
    request.open('GET', address(), false);
    request.overrideMimeType('text/plain; charset=x-user-defined');  // bytes, of which a waiting request makes text
    request.send();
    if (request.status >= 400) throw new Error(name + ': ' + request.status);
    return Uint8Array.from(request.responseText, function(c) { return c.charCodeAt(0) & 255; });
  };
  var fetchNow = function() {
    try {
      new WebAssembly.Instance(new WebAssembly.Module(inside() || read()), joined());
    } catch (error) {
      Module['onAbort'](error);
      throw error;
    }
    started();
  };

  // 'unasked', 'coming', 'here', or 'missing', where it could not be fetched.
  Module['rest'] = 'unasked';
  Module['fetchRest'] = function() {
    if (Module['rest'] === 'here') return Promise.resolve();
    if (Module['rest'] === 'coming' || !program) return asked;
    Module['rest'] = 'coming';
    var bytes = inside() ? Promise.resolve(inside()) : fetch(address()).then(function(response) {
      if (!response.ok) throw new Error(name + ': ' + response.status);
      return response.arrayBuffer();
    });
    asked = bytes.then(function(found) {
      return Module['rest'] === 'here' || WebAssembly.instantiate(found, joined()).then(started);
    }).catch(function(error) {
      if (Module['rest'] === 'here') return;
      Module['rest'] = 'missing';
      if (Module['_vram_rest']) Module['_vram_rest']();
      throw error;
    });
    asked.catch(function() {});
    return asked;
  };

  var placeholder = function(unused, place) {
    return function() {
      if (Module['rest'] !== 'here') fetchNow();
      return table.get(+place).apply(null, arguments);
    };
  };
  var instantiated = function() {
    var bytes = Module['wasmBinary'];
    if (bytes) return WebAssembly.instantiate(bytes, imports);
    var fetched = function() { return fetch(Module['locateFile']('vram-ledger.wasm', '')); };
    return WebAssembly.instantiateStreaming(fetched(), imports).catch(function() {  // of a server that says another type
      return fetched().then(function(response) { return response.arrayBuffer(); }).then(function(found) {
        return WebAssembly.instantiate(found, imports);
      });
    });
  };
  Module['instantiateWasm'] = function(given, receive) {
    imports = given;
    imports['placeholder'] = new Proxy({}, { 'get': placeholder });
    instantiated().then(function(result) {
      program = result['instance']['exports'];
      table = Object.keys(program).map(function(each) { return program[each]; }).find(function(each) { return each instanceof WebAssembly.Table; });
      var start = function() { receive(result['instance'], result['module']); };
      // Another view than the first, a plan beside the plan, a model of its own: it waits for both.
      if (/[#?&](view=(?!train)|vs=|arch=)/.test(location.search + location.hash)) Module['fetchRest']().then(start, start);
      else start();
    }).catch(function(error) { Module['onAbort'](error); });
    return {};
  };

  var touched = function(event) {
    if (Module['rest'] === 'unasked' || event.type !== 'pointermove') Module['fetchRest']();
  };
  ['pointermove', 'pointerdown', 'keydown', 'paste', 'dragenter'].forEach(function(type) {
    window.addEventListener(type, touched, { 'capture': true, 'passive': true });
  });
})();
