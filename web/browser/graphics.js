// Frames: when they come, and what becomes of the page without them.
var graphics = {
  /// `seen`: is any of the canvas on the screen? Elsewhere, and in a hidden tab, no frame comes until it is.
  $pending__postset: 'pending.seen = window.parent === window || !window.IntersectionObserver;',
  $pending: { frame: false, work: false, seen: true, timers: {} },

  vram_js_schedule: function() {
    if (pending.frame || !pending.seen || document.hidden) return;
    pending.frame = true;
    requestAnimationFrame(function() {
      pending.frame = false;
      if (Module['rest'] !== 'coming') _vram_frame();  // what was pressed waits for it (vram_rest)
    });
  },

  // Between two frames; where none is to be seen not at all, until one is drawn again.
  vram_js_schedule_work: function() {
    if (pending.work || !pending.seen || document.hidden) return;
    pending.work = true;
    setTimeout(function() {
      pending.work = false;
      _vram_work();
    });
  },

  // Anything that may change the picture wakes the page; nothing else does.
  vram_js_listen_wakers: function() {
    var wake = function() { _vram_wake(); };
    ['mousemove', 'mousedown', 'mouseup', 'mouseout', 'wheel', 'keydown', 'keypress', 'keyup', 'paste', 'focus', 'blur',
     'pageshow'].forEach(function(type) {
      window.addEventListener(type, wake, { capture: true, passive: true });
    });
    var resized = function() { _vram_resized(); };
    window.addEventListener('resize', resized);
    document.addEventListener('visibilitychange', wake);
    if (window.IntersectionObserver) new IntersectionObserver(function(changes) {
      pending.seen = changes[changes.length - 1].isIntersecting;
      wake();
    }).observe(page.canvas);
    new ResizeObserver(resized).observe(page.canvas);
    var arm = function() {
      var change = matchMedia('(resolution: ' + page.density() + 'dppx)');
      change.addEventListener('change', function() { resized(); arm(); }, { once: true });
    };
    arm();
    page.dark.addEventListener('change', wake);
  },

  // Makes the context that GLFW then finds made: another one only to try takes as long.
  vram_js_has_webgl2: function() {
    try {
      return !!page.canvas.getContext('webgl2', { alpha: false, depth: false, stencil: false, antialias: false });
    } catch (error) {
      return false;
    }
  },

  vram_js_listen_context__deps: ['$planForm'],
  vram_js_listen_context: function() {
    page.canvas.addEventListener('webglcontextlost', function(event) {
      event.preventDefault();
      document.body.classList.remove('drawn');
      document.body.classList.add('starting');
      Module['trouble']('The browser took the graphics away; until it gives them back, this is the plan as text.');
      _vram_context(0);
      planForm.show();
    });
    page.canvas.addEventListener('webglcontextrestored', function() {
      _vram_context(1);
    });
  },

  vram_js_say_drawn: function() {
    document.body.classList.remove('starting');
    document.body.classList.add('drawn');
  },

  vram_js_say_no_webgl__deps: ['$planForm'],
  vram_js_say_no_webgl: function() {
    document.body.classList.remove('starting');
    planForm.show();
    Module['trouble']('This browser gives no WebGL 2: the page shows the plan as text. The plan is in the address, behind #.');
  },

  // 3.1.6's GLFW takes a window of the screen's size for a wish to go full screen.
  vram_js_set_canvas_size: function(width, height) {
    if (!Module['setCanvasSize']) return false;
    Module['setCanvasSize'](width, height);
    return true;
  },

  vram_js_cursor: function(name) { page.canvas.style.cursor = UTF8ToString(name); },

  vram_js_later: function(which, milliseconds) {
    clearTimeout(pending.timers[which]);
    pending.timers[which] = setTimeout(function() { _vram_timer(which); }, milliseconds);
  },
};
autoAddDeps(graphics, '$page');
autoAddDeps(graphics, '$pending');
mergeInto(LibraryManager.library, graphics);
