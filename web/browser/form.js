// The plain form: the same inputs as elements of the document. A button that shows when the keyboard reaches it brings
// text and form in the canvas's place, and back. On a phone a part of the form comes as a sheet over the canvas: the
// system's own inputs, keyboards and lists.
var form = {
  $planForm__deps: ['$page', '$markdown'],
  $planForm: {
    language: '',

    /// Does anybody see it?
    isShown: function() {
      var body = document.body.classList;
      return !body.contains('drawn') || body.contains('plain') || body.contains('sheet');
    },
    inputOf: function(row) {
      var input = document.createElement(row.words.length ? 'select' : 'input');
      row.words.forEach(function(word) { markdown.add(input, 'option', word[1]).value = word[0]; });
      if (row.flag) input.type = 'checkbox';
      if (row.several) input.multiple = true;
      input.name = row.name;
      input.id = 'plan-' + row.name;
      input.title = page.say(row.help);
      return input;
    },
    select: function(input, words) {
      Array.from(input.options).forEach(function(option) { option.selected = words.indexOf(option.value) >= 0; });
    },
    valueOf: function(input) {
      if (input.type === 'checkbox') return input.checked ? '1' : '0';
      if (!input.multiple) return input.value;
      return Array.from(input.selectedOptions, function(option) { return option.value; }).join(',');
    },
    groupOf: function(row) {
      var group = document.getElementById('plan-section-' + row.section);
      if (group) return group;
      group = markdown.add(document.getElementById('plan'), 'fieldset');
      group.id = 'plan-section-' + row.section;
      group.dataset.parts = '|' + row.section + '|' + row.group + '|';
      markdown.add(group, 'legend', row.section);
      return group;
    },
    add: function(row) {
      var label = markdown.add(planForm.groupOf(row), 'label', row.label);
      label.appendChild(document.createTextNode(row.unit ? ' (' + page.say(row.unit) + ') ' : ' '));
      label.appendChild(planForm.inputOf(row));
      markdown.add(label, 'small').id = 'plan-complaint-' + row.name;
    },
    /// Its fields as the plan has them; it takes the rest of the program to say what they are.
    show: function() {
      return Module['fetchRest']().then(function() {
        if (planForm.isShown()) planForm.fill(JSON.parse(UTF8ToString(_vram_form())));
      }, function() { Module['trouble']('The form could not be fetched: it comes when the network is back.'); });
    },
    /// `rows`: as web/form.h says.
    fill: function(rows) {
      if (planForm.language !== document.documentElement.lang) document.getElementById('plan').textContent = '';
      planForm.language = document.documentElement.lang;
      rows.forEach(function(row) {
        if (!document.getElementById('plan-' + row.name)) planForm.add(row);
        var input = document.getElementById('plan-' + row.name);
        if (row.flag) input.checked = row.value === '1';
        else if (row.several) planForm.select(input, row.value.split(','));
        else if (input !== document.activeElement || input.value === '') input.value = row.value;
        input.parentNode.className = (row.given ? 'given' : '') + (row.first ? '' : ' later');
        document.getElementById('plan-complaint-' + row.name).textContent = row.complaint;
      });
    },
    /// Of the form's parts this one alone, or all.
    choose: function(part) {
      document.querySelectorAll('#plan fieldset').forEach(function(group) {
        group.hidden = part && group.dataset.parts.indexOf('|' + part + '|') < 0;
      });
    },
  },

  vram_js_renew_form: function() {
    if (planForm.isShown() && Module['rest'] === 'here') planForm.show();
  },

  vram_js_listen_form: function() {
    var form = document.getElementById('plan');
    document.getElementById('toggle').addEventListener('click', function(event) {
      document.body.classList.toggle('plain');
      event.target.textContent = planForm.isShown() ? 'Show as drawn' : 'Show as form and text';
      if (planForm.isShown()) planForm.show();
      else page.canvas.focus();
      _vram_wake();
    });
    form.addEventListener('submit', function(event) { event.preventDefault(); });
    form.addEventListener('change', function(event) {
      var input = event.target;
      page.send(_vram_edited, input.name + '=' + planForm.valueOf(input));
    });
  },

  vram_js_listen_sheet: function() {
    var body = document.body.classList;
    var more = document.getElementById('more');
    var close = function() {
      if (!body.contains('sheet')) return;
      body.remove('sheet', 'whole');
      planForm.choose('');
      page.canvas.focus();
      _vram_wake();
    };
    document.getElementById('done').addEventListener('click', close);
    more.addEventListener('click', function() {
      body.add('whole');
      more.hidden = true;
    });
    window.addEventListener('keydown', function(event) { if (event.key === 'Escape') close(); }, true);
  },
  vram_js_open_sheet: function(part) {
    var done = document.getElementById('done');
    var more = document.getElementById('more');
    var name = UTF8ToString(part);
    document.body.classList.add('sheet');
    document.body.classList.remove('whole');
    more.textContent = page.say('All of them');
    done.textContent = page.say('Done');
    done.focus();
    planForm.show().then(function() {
      planForm.choose(name);
      more.hidden = !document.querySelector('#plan fieldset:not([hidden]) .later');
      document.getElementById('text').scrollTop = 0;
    });
  },
};
autoAddDeps(form, '$planForm');
mergeInto(LibraryManager.library, form);
