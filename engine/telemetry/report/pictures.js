// What a run took in all: stacked bars, the stages of a pipeline over an epoch, and matrices as heat maps.
const kMostBars = 64, kShades = 20;

// Reduces [{label, values}] to at most kMostBars: equal groups of neighbours are shown as their mean.
function grouped(all, noun) {
  const count = Math.min(all.length, kMostBars);
  return Array.from({length: count}, (_, bar) => {
    const begin = Math.floor(all.length * bar / count), end = Math.floor(all.length * (bar + 1) / count), members = all.slice(begin, end);
    const pieces = Math.max(...members.map(m => m.length));
    const values = Array.from({length: pieces}, (__, p) => sum(members.map(m => m[p] || 0)) / members.length);
    return {label: members.length === 1 ? `${noun} ${begin}` : `${begin}–${end - 1}`, values};
  });
}

// The frame of rows over a common axis from 0, for bars and for stages.
function rowAxis(canvas, labels, longest, format, width, side) {
  const pitch = Math.max(11, Math.min(34, 720 / labels.length)), left = 14 + 6.6 * Math.max(...labels.map(l => l.length));
  const right = width - side, bottom = pitch * labels.length + 4, x = scale(0, longest, left, right);
  canvas.setAttribute('viewBox', `0 0 ${width} ${bottom + 24}`);
  canvas.replaceChildren();
  for (const tick of valueTicks(format, 0, longest, Math.max(3, Math.min(6, (right - left) / 80))))
    canvas.append(path('rule', `M${px(x(tick))} 0V${px(bottom)}`), words(x(tick), bottom + 18, 'middle', tickText(format, tick)));
  labels.forEach((label, row) => {
    if (pitch >= 14 || row % 2 === 0) canvas.append(words(left - 8, pitch * row + pitch * .38 + 6, 'end', label));
  });
  return {x, pitch};
}

// Bars of [{label, values}], a piece for each name.
function barPicture(figure, bars, names, format, what) {
  const longest = Math.max(0, ...bars.map(bar => sum(bar.values)));
  if (!(longest > 0)) return;
  const canvas = svg('svg', {role: 'img', 'aria-label': what});
  const keys = names.map((name, p) => html('span', {}, html('i', {class: 'swatch', ...colour(p)}), name));
  if (keys.length) figure.append(html('figcaption', {}, ...keys));
  figure.append(canvas);
  drawn(figure, width => {
    const {x, pitch} = rowAxis(canvas, bars.map(bar => bar.label), longest, format, width, 76);
    bars.forEach((bar, row) => {
      let before = 0;
      bar.values.forEach((value, p) => {
        const wide = x(before + value) - x(before);
        if (wide >= .05) {
          const title = svg('title', {}, `${bar.label}: ${names[p] || `its rank ${p}`} ${formats[format](value)}`);
          canvas.append(svg('rect', {class: 'piece', x: px(x(before)), y: px(pitch * row + 2), width: px(Math.max(.3, wide - .7)),
            height: px(pitch * .76), ...colour(p)}, title));
        }
        before += value;
      });
      if (pitch >= 14 || row % 2 === 0) canvas.append(words(x(before) + 6, pitch * row + pitch * .38 + 6, 'start', formats[format](before)));
    });
  });
}

// A row for each stage: its chunks forward and, paler, backward; a chunk is [number, begin and end of
// forward, of backward].
function stagePicture(figure, stages) {
  const longest = Math.max(0, ...stages.flatMap(chunks => chunks.map(chunk => chunk[4])));
  if (!(longest > 0)) return;
  const canvas = svg('svg', {role: 'img', 'aria-label': 'chunks by stage and time'});
  figure.append(canvas);
  drawn(figure, width => {
    const {x, pitch} = rowAxis(canvas, stages.map((_, stage) => `stage ${stage}`), longest, 'seconds', width, 14);
    stages.forEach((chunks, stage) => chunks.forEach(([chunk, ...times]) => ['forward', 'backward'].forEach((way, back) => {
      const [begin, end] = times.slice(2 * back), wide = Math.max(.3, x(end) - x(begin) - .5);
      const title = svg('title', {}, `stage ${stage}, chunk ${chunk}: ${way} ${formats.seconds(end - begin)}`);
      canvas.append(svg('rect', {class: 'piece', x: px(x(begin)), y: px(pitch * stage + 2), width: px(wide), height: px(pitch * .76),
        'fill-opacity': back ? .45 : 1, ...colour(chunk)}, title));
    })));
  });
}

// Cells of one shade are one path, which keeps large matrices quick.
function cellPaths(matrix, cell, left, top) {
  const paths = new Map(), gap = cell > 12 ? 1.5 : cell > 6 ? .6 : 0;
  matrix.values.forEach((value, i) => {
    const row = Math.floor(i / matrix.size), column = i % matrix.size, share = matrix.share(value, row);
    if (!(share > 0)) return;
    const key = `${matrix.mistakes && row !== column ? 'miss' : 'heat'} ${Math.min(kShades, Math.ceil(share * kShades))}`;
    const d = `M${px(left + column * cell)} ${px(top + row * cell)}h${px(cell - gap)}v${px(cell - gap)}h${px(gap - cell)}z`;
    paths.set(key, (paths.get(key) || '') + d);
  });
  return [...paths].map(([key, d]) => {
    const [name, shade] = key.split(' ');
    return path(name, d, {'fill-opacity': .06 + .94 * shade / kShades});
  });
}

// Ticks and titles of both axes, and the numbers in the cells, where they have room.
function matrixWords(matrix, cell, left, top) {
  const {size, step} = matrix, every = cell >= 16 ? 1 : Math.ceil(22 / cell), middle = cell * size / 2, found = [];
  for (let i = 0; i < size; i += every) {
    found.push(words(left + (i + .5) * cell, top - 7, 'middle', String(i * step)));
    found.push(words(left - 8, top + (i + .5) * cell + 4, 'end', String(i * step)));
  }
  found.push(words(left + middle, 14, 'middle', matrix.columnTitle));
  found.push(svg('text', {transform: `translate(12 ${px(top + middle)}) rotate(-90)`, 'text-anchor': 'middle'}, matrix.rowTitle));
  const width = text => 6.4 * text.length;
  matrix.values.forEach((value, i) => {
    const row = Math.floor(i / size), text = formats[matrix.format](value);
    if (value === 0 || cell < 24 || width(text) > cell) return;
    found.push(words(left + (i % size + .5) * cell, top + (row + .5) * cell + 3.5, 'middle', text,
      matrix.share(value, row) > .5 ? 'number strong' : 'number'));
  });
  return found;
}

// {size, step, values, format, share(value, row), rowTitle, columnTitle, word, words, mistakes?, borders?}:
// pointing at a cell, or walking to it by arrow keys, reads it off.
function matrixPicture(figure, matrix) {
  const {size, step, values} = matrix, where = html('span', {}, 'Point at a cell to read it off.'), cursor = path('cell', '');
  const canvas = svg('svg', {tabindex: 0, role: 'application', 'aria-label': `${matrix.rowTitle} by ${matrix.columnTitle}`});
  figure.append(html('figcaption', {'aria-live': 'polite'}, where), canvas);
  const left = 52, top = 42, name = i => step === 1 ? `${matrix.word} ${i}` : `${matrix.words} ${i * step}–${(i + 1) * step - 1}`;
  let cell, row = 0, column = 0;
  const point = (toRow, toColumn) => {
    row = Math.max(0, Math.min(size - 1, toRow));
    column = Math.max(0, Math.min(size - 1, toColumn));
    const value = values[row * size + column], total = sum(values.slice(row * size, (row + 1) * size));
    const share = matrix.mistakes && total ? `, ${formats.percent(value / total)} of the row` : '';
    where.textContent = `${name(row)} → ${name(column)}: ${formats[matrix.format](value)}${share}`;
    cursor.setAttribute('d', `M${px(left + column * cell)} ${px(top + row * cell)}h${px(cell)}v${px(cell)}h${px(-cell)}z`);
  };
  drawn(figure, width => {
    const side = Math.min(width - left - 8, 460);
    cell = Math.min(side / size, 92);
    canvas.setAttribute('viewBox', `0 0 ${px(left + cell * size + 8)} ${px(top + cell * size + 8)}`);
    canvas.style.maxWidth = `${px(left + cell * size + 8)}px`;
    const borders = (matrix.borders || []).map(at => path('border',
      `M${px(left + at * cell)} ${top}v${px(cell * size)}M${left} ${px(top + at * cell)}h${px(cell * size)}`));
    cursor.setAttribute('d', '');
    const floor = svg('rect', {class: 'floor', x: left - 2, y: top - 2, width: px(cell * size + 3), height: px(cell * size + 3)});
    canvas.replaceChildren(floor, ...cellPaths(matrix, cell, left, top), ...matrixWords(matrix, cell, left, top), ...borders,
      cursor);
  });
  const at = event => {
    const box = canvas.getBoundingClientRect(), zoom = canvas.viewBox.baseVal.width / box.width;
    const place = (v, start) => Math.floor((v * zoom - start) / cell);
    point(place(event.clientY - box.top, top), place(event.clientX - box.left, left));
  };
  canvas.addEventListener('pointerdown', at);
  canvas.addEventListener('pointermove', at);
  canvas.addEventListener('keydown', event => {
    const [down, along] = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key] || [];
    if (down === undefined) return;
    event.preventDefault();
    point(row + down, column + along);
  });
}
