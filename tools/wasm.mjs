// As much of WebAssembly's binary format as tools/link_page.mjs needs: sections, names, segments of data.
const kCustom = 0, kImport = 2, kCode = 10, kData = 11, kDataCount = 12;

/// LEB128, the format's numbers, signed where a constant is.
function number(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at.next++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return value;
  }
}
function constant(bytes, at) {
  if (bytes[at.next++] !== 0x41) throw new Error('no i32.const');
  const from = at.next;
  const value = number(bytes, at);
  const bits = 7 * (at.next - from);
  at.next++;  // end
  return value >= 2 ** (bits - 1) ? value - 2 ** bits : value;
}
const encoded = (value, rest = []) => (value > 127 ? encoded(Math.floor(value / 128), [...rest, (value % 128) | 128]) : Buffer.from([...rest, value]));
const signed = (value, rest = []) => (value > 63 ? signed(Math.floor(value / 128), [...rest, (value % 128) | 128]) : Buffer.from([...rest, value]));
const measured = (bytes) => Buffer.concat([encoded(bytes.length), bytes]);
const string = (text) => measured(Buffer.from(text));
function text(bytes, at) {
  const length = number(bytes, at);
  return bytes.toString('utf8', at.next, (at.next += length));
}
/// Calls read(kind, end) for each part of a section that is made of parts.
function eachPart(bytes, at, end, read) {
  while (at.next < end) {
    const kind = bytes[at.next++];
    const after = number(bytes, at) + at.next;
    read(kind, after);
    at.next = after;
  }
}

/// [{ kind, name, content }]; the name is a custom section's.
export function sections(bytes) {
  const found = [];
  for (const at = { next: 8 }; at.next < bytes.length;) {
    const kind = bytes[at.next++];
    const end = number(bytes, at) + at.next;
    const name = kind === kCustom ? text(bytes, at) : '';
    found.push({ kind, name, content: bytes.subarray(at.next, end) });
    at.next = end;
  }
  return found;
}
export function assembled(list) {
  return Buffer.concat([Buffer.from('\0asm\x01\0\0\0', 'latin1'), ...list.flatMap(({ kind, name, content }) =>
    [Buffer.from([kind]), measured(kind === kCustom ? Buffer.concat([string(name), content]) : content)])]);
}

/// How many functions come from outside: the module's own are numbered after them.
export function importedFunctions(list) {
  const kFunction = 0, kTable = 1, kMemory = 2;
  const bytes = list.find(({ kind }) => kind === kImport).content;
  const at = { next: 0 };
  let functions = 0;
  for (let count = number(bytes, at); count > 0; count--) {
    text(bytes, at), text(bytes, at);
    const kind = bytes[at.next++];
    if (kind === kFunction) number(bytes, at), functions++;
    if (kind === kTable) at.next++;
    if (kind === kTable || kind === kMemory) for (let limits = 1 + (number(bytes, at) & 1); limits > 0; limits--) number(bytes, at);
    if (kind > kMemory) at.next += 2;  // a global
  }
  return functions;
}
/// Names of a module's functions, by number.
export function functionNames(list) {
  const names = new Map();
  const bytes = list.find(({ name }) => name === 'name').content;
  const at = { next: 0 };
  eachPart(bytes, at, bytes.length, (kind) => {
    if (kind === 1) for (let count = number(bytes, at); count > 0; count--) names.set(number(bytes, at), text(bytes, at));
  });
  return names;
}
/// The same module with other names of functions, and without other custom sections.
export function withNames(list, names) {
  const entries = [...names].map(([index, name]) => Buffer.concat([encoded(index), string(name)]));
  const part = measured(Buffer.concat([encoded(entries.length), ...entries]));
  return [...list.filter(({ kind }) => kind !== kCustom), { kind: kCustom, name: 'name', content: Buffer.concat([Buffer.from([1]), part]) }];
}
/// What a function of no locals gives that is a single constant.
export function constantOf(list, defined) {
  const bytes = list.find(({ kind }) => kind === kCode).content;
  const at = { next: 0 };
  for (let count = number(bytes, at); count > 0; count--, defined--) {
    const end = number(bytes, at) + at.next;
    if (defined === 0) return at.next++, constant(bytes, at);
    at.next = end;
  }
  throw new Error('no such function');
}

/// The active segments of a module's memory: [{ address, bytes }].
export function segments(list) {
  const section = list.find(({ kind }) => kind === kData);
  const found = [];
  if (!section) return found;
  const bytes = section.content;
  const at = { next: 0 };
  for (let count = number(bytes, at); count > 0; count--) {
    if (number(bytes, at) !== 0) throw new Error('a segment that is not active');
    const address = constant(bytes, at);
    const length = number(bytes, at);
    found.push({ address, bytes: bytes.subarray(at.next, (at.next += length)) });
  }
  return found;
}
export function withSegments(list, data) {
  const content = Buffer.concat([encoded(data.length), ...data.map(({ address, bytes }) =>
    Buffer.concat([Buffer.from([0, 0x41]), signed(address), Buffer.from([0x0b]), measured(bytes)]))]);
  const others = list.filter(({ kind }) => kind !== kData && kind !== kDataCount);
  const end = others.findIndex(({ kind }) => kind === kCustom);
  others.splice(end < 0 ? others.length : end, 0, { kind: kData, content });
  return others;
}

/// An object file whose segments of data all bear one name, so that the linker puts them side by side.
export function withSegmentName(list, name) {
  return list.map((section) => (section.name === 'linking' ? { ...section, content: relabelled(section.content, name) } : section));
}
function relabelled(bytes, name) {
  const kSegmentInfo = 5;
  const at = { next: 0 };
  const parts = [encoded(number(bytes, at))];  // the version
  eachPart(bytes, at, bytes.length, (kind, end) => {
    if (kind !== kSegmentInfo) return parts.push(Buffer.from([kind]), measured(bytes.subarray(at.next, end)));
    const count = number(bytes, at);
    const infos = [encoded(count)];
    for (let i = 0; i < count; i++) {
      text(bytes, at);
      infos.push(string(name), encoded(number(bytes, at)), encoded(number(bytes, at)));  // alignment, flags
    }
    parts.push(Buffer.from([kind]), measured(Buffer.concat(infos)));
  });
  return Buffer.concat(parts);
}
