// Curves over epochs. All charts of the page point at the same epoch, with a vertical rule and with the value
// there beside each curve's name. The epoch is chosen by pointer, by touch, and by the arrow keys, Page Up
// and Down, Home and End.
const kHeight = 250, kTop = 8, kBottom = 224;
const kDashes = ['none', '8 3', '2 3', '10 3 2 3', '5 2', '1 4', '12 4', '4 6'];
const curveCharts = [];

// The indices to draw: of each pixel the first, least, largest and last value, so that no spike is lost.
function thinned(values, place) {
  const kept = [];
  let pixel = null, first, least, largest, last;
  const keep = () => { if (pixel !== null) kept.push(...new Set([first, ...[least, largest].sort((a, b) => a - b), last])); };
  values.forEach((value, i) => {
    if (value === null) return;
    const at = Math.floor(place(i));
    if (at !== pixel) {
      keep();
      pixel = at;
      first = least = largest = i;
    }
    if (value < values[least]) least = i;
    if (value > values[largest]) largest = i;
    last = i;
  });
  keep();
  return kept;
}

// The index in ascending `known` whose place is nearest.
function nearest(known, place, x) {
  let low = 0, high = known.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (place(known[middle]) < x) low = middle; else high = middle;
  }
  return Math.abs(place(known[low]) - x) <= Math.abs(place(known[high]) - x) ? low : high;
}

// From the least to the largest value of all curves, with a margin. Durations and bytes begin at 0; a loss or
// an error that spans more than a factor of 30 is drawn on a logarithmic scale.
function valueRange(chart) {
  let low = Infinity, high = -Infinity;
  for (const {y} of chart.series) {
    for (const value of y) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (chart.cap) high = Math.min(high, Math.max(low, chart.cap));
  if (chart.mayBeLogarithmic && low > 0 && high > 30 * low) return {low: low / 1.2, high: high * 1.2, isLogarithmic: true};
  if (chart.format === 'seconds' || chart.format === 'bytes') low = Math.min(low, 0);
  const margin = high > low ? .06 * (high - low) : Math.max(Math.abs(high) * .1, 1e-3);
  const isShare = chart.format === 'percent' && high <= 1;
  return {low: low >= 0 ? Math.max(0, low - margin) : low - margin, high: isShare ? Math.min(1, high + margin) : high + margin};
}

function rangeTicks(chart, {low, high, isLogarithmic}) {
  if (!isLogarithmic) return valueTicks(chart.format, low, high, 5);
  const decades = [], every = Math.max(1, Math.ceil(Math.log10(high / low) / 6));
  for (let power = Math.ceil(Math.log10(low)); 10 ** power <= high; power += every) decades.push(10 ** power);
  return decades.length > 1 ? decades : ticks(low, high, 4).filter(tick => tick > 0);
}

function axes(chart, range, x, y, left, right) {
  const marks = [];
  for (const tick of rangeTicks(chart, range))
    marks.push(path('rule', `M${left} ${px(y(tick))}H${right}`), words(left - 8, y(tick) + 4, 'end', tickText(chart.format, tick)));
  const format = chart.seconds ? 'seconds' : 'count', room = Math.floor((right - left) / 75);
  for (const tick of ticks(chart.at[0], chart.at[chart.at.length - 1], Math.max(2, Math.min(6, room))))
    if (chart.seconds || Number.isInteger(tick)) marks.push(words(x(tick), kBottom + 20, 'middle', tickText(format, tick)));
  marks.push(path('axis', `M${left} ${kBottom}H${right}`), words(left - 8, kBottom + 20, 'end', chart.seconds ? 'time' : 'epoch'));
  if (chart.mark > 0)
    marks.push(svg('path', {class: 'mark', d: `M${px(x(chart.mark))} ${kTop}V${kBottom}`}, svg('title', {}, `best epoch: ${chart.mark}`)));
  return marks;
}

function curve(series, n, place, y) {
  const kept = thinned(series.y, place);
  const d = kept.map((i, k) => `${k ? 'L' : 'M'}${px(place(i))} ${px(y(series.y[i]))}`).join('');
  const dots = kept.length > 25 ? [] : kept.map(i => svg('circle', {class: 'dot', cx: px(place(i)), cy: px(y(series.y[i])), r: 2.8}));
  return svg('g', colour(n), path('line', d, {'stroke-dasharray': kDashes[n % 8]}), ...dots);
}

// One chart: {title, format, epochs, seconds?, series: [{name, y}], mark?, cap?, mayBeLogarithmic?}. It is
// left out if no curve has a value.
function curveChart(parent, given) {
  const series = given.series.filter(({y}) => y && y.some(v => v !== null));
  if (!series.length) return;
  const chart = {...given, series, at: given.seconds || given.epochs}, format = formats[chart.format];
  const known = chart.at.map((_, i) => i).filter(i => series.some(({y}) => y[i] !== null));
  const where = html('small'), values = series.map(() => html('b'));
  const keys = series.map(({name}, n) => html('span', {}, svg('svg', {class: 'key', viewBox: '0 0 26 10', ...colour(n)},
    path('line', 'M0 5H26', {'stroke-dasharray': kDashes[n % 8]})), `${name} `, values[n]));
  const canvas = svg('svg', {tabindex: 0, role: 'slider', 'aria-label': `${chart.title} by ${chart.seconds ? 'time' : 'epoch'}`,
    'aria-valuemin': chart.epochs[0], 'aria-valuemax': chart.epochs[chart.epochs.length - 1]});
  const figure = html('figure', {class: 'curves'}, html('figcaption', {}, html('h3', {}, chart.title, where), ...keys), canvas);
  parent.append(html('section', {}, figure));

  let place, y, pointed = null, cursor = svg('g');
  const show = index => {
    pointed = index;
    const i = index === null ? known[known.length - 1] : index;
    where.textContent = `epoch ${formats.count(chart.epochs[i])}${chart.seconds ? ` · ${formats.seconds(chart.seconds[i])}` : ''}`;
    series.forEach((s, n) => { values[n].textContent = s.y[i] === null ? '–' : format(s.y[i]); });
    canvas.setAttribute('aria-valuenow', chart.epochs[i]);
    canvas.setAttribute('aria-valuetext', [where, ...keys].map(element => element.textContent).join(', '));
    cursor.replaceChildren();
    if (index === null) return;
    cursor.append(path('cursor', `M${px(place(i))} ${kTop}V${kBottom}`));
    series.forEach((s, n) => {
      if (s.y[i] !== null) cursor.append(svg('circle', {class: 'dot', cx: px(place(i)), cy: px(y(s.y[i])), r: 4, ...colour(n)}));
    });
  };
  const point = index => { for (const one of curveCharts) one(index); };
  curveCharts.push(show);

  drawn(figure, width => {
    const range = valueRange(chart), labels = rangeTicks(chart, range).map(tick => tickText(chart.format, tick).length);
    const left = Math.max(44, 12 + 6.6 * Math.max(...labels)), right = width - 12;
    const first = chart.at[0], last = chart.at[chart.at.length - 1], x = scale(first, last > first ? last : first + 1, left, right);
    const up = scale(range.low, range.high, kBottom, kTop, range.isLogarithmic);
    place = i => x(chart.at[i]);
    y = value => up(Math.min(value, range.high));
    canvas.setAttribute('viewBox', `0 0 ${width} ${kHeight}`);
    canvas.replaceChildren(...axes(chart, range, x, y, left, right), ...series.map((s, n) => curve(s, n, place, y)), cursor);
    show(pointed);
  });

  const at = event => {
    const box = canvas.getBoundingClientRect(), width = canvas.viewBox.baseVal.width;
    point(known[nearest(known, place, (event.clientX - box.left) * width / box.width)]);
  };
  canvas.addEventListener('pointerdown', at);
  canvas.addEventListener('pointermove', at);
  canvas.addEventListener('pointerleave', event => { if (event.pointerType !== 'touch') point(null); });
  canvas.addEventListener('keydown', event => {
    const last = known.length - 1, now = pointed === null ? last : nearest(known, i => i, pointed), page = Math.max(10, last / 10 | 0);
    const to = {ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, PageDown: now - page, PageUp: now + page,
      Home: 0, End: last}[event.key];
    if (event.key === 'Escape') point(null);
    if (to === undefined) return;
    event.preventDefault();
    point(known[Math.max(0, Math.min(last, to))]);
  });
}
