// What all pictures of a report share: numbers as people read them, round ticks, and elements. No text
// becomes markup here: all of it goes into text nodes and attributes.

const digits = v => v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2);
const two = v => String(Math.floor(v)).padStart(2, '0');

// The same words as the program's own (base/text.h).
const formats = {
  plain: v => {
    const short = Number(v.toPrecision(4)), size = Math.abs(v);
    return v === 0 || size >= 1e-3 && size < 1e6 ? String(short) : short.toExponential();
  },
  percent: v => `${Number((v * 100).toPrecision(4)).toLocaleString('en-US')} %`,
  count: v => v.toLocaleString('en-US'),
  seconds: v => {
    if (v < 60) return v === 0 ? '0 s' : v < 999.5e-6 ? `${digits(v * 1e6)} µs` : v < .9995 ? `${digits(v * 1e3)} ms` : `${digits(v)} s`;
    if (v < 3600) return `${Math.floor(v / 60)}m ${two(v % 60)}s`;
    return v < 86400 ? `${Math.floor(v / 3600)}h ${two(v % 3600 / 60)}m` : `${Math.floor(v / 86400)}d ${two(v % 86400 / 3600)}h`;
  },
  bytes: v => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let unit = 0;
    for (; v >= 1023.5 && unit < 5; ++unit) v /= 1024;
    return `${unit ? digits(v) : v.toFixed(0)} ${units[unit]}`;
  },
};

// A round number without needless zeros: "6 ms".
const tickText = (format, v) => formats[format](v).replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');

// Round numbers that divide low … high into about `count` steps.
function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0 && rough < Infinity)) return [low];
  const decade = 10 ** Math.floor(Math.log10(rough)), step = decade * [1, 2, 5, 10].find(factor => decade * factor >= rough * (1 - 1e-9));
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n) found.push(Number((n * step).toPrecision(12)));
  return found;
}

// Ticks of values in a format: round numbers of bytes are round in the unit in which they are written.
function valueTicks(format, low, high, count) {
  let unit = 1;
  while (format === 'bytes' && high >= 1024 * unit) unit *= 1024;
  return ticks(low / unit, high / unit, count).map(tick => tick * unit);
}

// A map of values to pixels.
function scale(low, high, from, to, isLogarithmic = false) {
  const place = isLogarithmic ? Math.log10 : v => v, start = place(low), perUnit = (to - from) / (place(high) - start);
  return v => from + (place(v) - start) * perUnit;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svgNamespace = document.getElementById('logo').namespaceURI;
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(svgNamespace, name), attributes, children);

const px = v => v.toFixed(1);
const words = (x, y, anchor, text, name = '') => svg('text', {x: px(x), y: px(y), 'text-anchor': anchor, class: name}, text);
const path = (name, d, attributes = {}) => svg('path', {class: name, d, ...attributes});
const colour = n => ({style: `--c:var(--c${n % 8 + 1})`});
const sum = values => values.reduce((total, v) => total + v, 0);

// Draws now, and again whenever the window's width changes what there is room for.
function drawn(frame, draw) {
  let width = 0;
  const fit = () => {
    if (frame.clientWidth === width) return;
    width = frame.clientWidth;
    draw(Math.max(width, 240));
  };
  fit();
  addEventListener('resize', fit);
}
