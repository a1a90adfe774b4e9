// Keys, wheel, fingers and soft keyboards, where GLFW or the browser would do something else with them.
var input = {
  // GLFW listens on the window and would swallow Tab and Backspace meant for the page, and let the arrow keys scroll
  // a page around us.
  vram_js_listen_keys: function() {
    var scrolls = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End'];
    var onKey = function(event) {
      var at = document.activeElement;
      if (at && at !== page.canvas && at !== document.body) return event.stopImmediatePropagation();
      if (event.key === 'Tab' && !_vram_is_typing()) return event.stopImmediatePropagation();
      if (event.type === 'keydown' && scrolls.indexOf(event.key) >= 0) event.preventDefault();
      if (event.key === 'a' && (event.ctrlKey || event.metaKey) && _vram_is_typing()) event.preventDefault();  // of the box alone
      if (event.type === 'keypress' && event.key === ' ') event.preventDefault();
    };
    ['keydown', 'keypress', 'keyup'].forEach(function(type) { window.addEventListener(type, onKey, true); });
  },

  // Pixels, so that the page scrolls as far as any other. A bare wheel over an embedded page that nobody clicked belongs
  // to the page around it; with Ctrl it is a zoom.
  vram_js_listen_wheel: function() {
    var onWheel = function(event) {
      if (event.target !== page.canvas) return;
      event.stopImmediatePropagation();
      if (event.ctrlKey || (page.framed && document.activeElement !== page.canvas)) return;
      event.preventDefault();
      if (event.type !== 'wheel') return;
      var unit = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? 33 : 400;
      _vram_scroll(event.deltaX * unit * page.density(), event.deltaY * unit * page.density());
    };
    window.addEventListener('wheel', onWheel, { capture: true, passive: false });
    window.addEventListener('mousewheel', onWheel, { capture: true, passive: false });
    page.canvas.addEventListener('mousedown', function() { page.canvas.focus(); });
  },

  // A tap is a click where the finger lifts, a drag scrolls and glides on. GLFW's own touch handling of 3.1.6 clicks at
  // the previous place.
  vram_js_listen_touch__deps: ['$softKeyboard'],
  vram_js_listen_touch: function() {
    var start = null;
    var gliding = null;
    if (page.framed) page.canvas.style.touchAction = 'pan-y';  // a drag belongs to the page around
    var point = function(event) {
      var box = page.canvas.getBoundingClientRect();
      var touch = event.changedTouches[0];
      return { x: (touch.clientX - box.left) * page.density(), y: (touch.clientY - box.top) * page.density(), t: event.timeStamp };
    };
    var glide = function(speed) {
      var token = gliding = {};
      var step = function() {
        if (gliding !== token || Math.abs(speed) < 0.5) return;
        _vram_scroll(0, speed);
        speed *= 0.95;
        requestAnimationFrame(step);
      };
      step();
    };
    var on = {
      touchstart: function(event) {
        gliding = null;
        start = event.touches.length === 1 ? point(event) : null;
        if (!start) return;
        start.last = start;
        start.speed = 0;
        _vram_point(start.x, start.y);
      },
      touchmove: function(event) {
        if (!start) return;
        var now = point(event);
        if (!start.moved && Math.hypot(now.x - start.x, now.y - start.y) < 8 * page.density()) return;
        start.moved = true;
        _vram_scroll(start.last.x - now.x, start.last.y - now.y);
        start.speed = (start.last.y - now.y) / Math.max(1, now.t - start.last.t) * 16;
        start.last = now;
      },
      touchend: function() {
        if (!start) return;
        if (start.moved) {
          glide(start.speed);
        } else {
          if (_vram_takes_text(start.x, start.y)) softKeyboard.field.focus();
          else page.canvas.focus();
          _vram_tap(start.x, start.y);
        }
        start = null;
      },
      touchcancel: function() { start = null; },
    };
    Object.keys(on).forEach(function(type) {
      window.addEventListener(type, function(event) {
        if (event.target !== page.canvas) return;
        event.stopImmediatePropagation();
        if (event.cancelable && (type === 'touchend' || page.canvas.style.touchAction !== 'pan-y')) event.preventDefault();
        on[type](event);
      }, { capture: true, passive: false });
    });
  },

  // A canvas raises no soft keyboard: an input out of sight takes what is typed on glass, and compositions.
  $softKeyboard: { field: null },
  vram_js_listen_soft_keyboard__deps: ['$softKeyboard'],
  vram_js_listen_soft_keyboard: function() {
    var kBackspace = 0, kEnter = 1, kEscape = 2;
    var field = softKeyboard.field = document.getElementById('typing');
    var composing = false;
    var drain = function() {
      if (composing || !field.value) return;
      page.send(_vram_typed, field.value);
      field.value = '';
    };
    field.addEventListener('compositionstart', function() { composing = true; });
    field.addEventListener('compositionend', function() { composing = false; drain(); });
    field.addEventListener('input', drain);
    field.addEventListener('beforeinput', function(event) {
      if (event.inputType === 'deleteContentBackward') _vram_key(kBackspace);
      if (event.inputType === 'insertLineBreak') _vram_key(kEnter);
    });
    field.addEventListener('keydown', function(event) {
      var key = { Backspace: kBackspace, Enter: kEnter, Escape: kEscape }[event.key];
      if (key === undefined) return;
      event.preventDefault();
      _vram_key(key);
      if (key === kEnter) field.blur();
      if (key === kEscape) page.canvas.focus();
    });
  },

  vram_js_is_mac: function() { return navigator.platform.indexOf('Mac') === 0 || navigator.platform.indexOf('iP') === 0; },
};
autoAddDeps(input, '$page');
mergeInto(LibraryManager.library, input);
