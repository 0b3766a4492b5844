// A report's pictures, from the run's own JSON: run.json's keys, with `epochs`, the columns of metrics.jsonl.
const run = JSON.parse(document.getElementById('run').textContent);

// The time at the end of each epoch. Strategies are compared by how soon they reach a metric.
function sums(values) {
  let total = 0;
  return values.map(v => total += v || 0);
}

// The most that usual values reach. The few slowest epochs, such as the first, which allocates, would squeeze
// all others into a line.
function usualMost(values) {
  const sorted = values.filter(v => v !== null).sort((a, b) => a - b);
  return sorted.length ? 1.5 * sorted[Math.floor(sorted.length * .97)] : 0;
}

function charts({epoch, loss, validationLoss, train, validation, test, epochSeconds, phases, learningRate, residentBytes, staleness}) {
  const metric = run.metricTitle[0].toUpperCase() + run.metricTitle.slice(1);
  const metrics = [{name: 'training', y: train}, {name: 'validation', y: validation}, {name: 'test', y: test}];
  const byPhase = Object.entries(phases).slice(0, 7).map(([name, y]) => ({name, y}));
  const rate = [{name: 'of each epoch', y: learningRate}], resident = [{name: 'resident on rank 0', y: residentBytes}];
  const changes = learningRate && learningRate.some(one => one !== learningRate[0]);
  return [
    {title: 'Loss', format: 'plain', mayBeLogarithmic: true, mark: run.bestEpoch,
      series: [{name: 'training', y: loss}, {name: 'validation', y: validationLoss}]},
    {title: metric, format: 'percent', mark: run.bestEpoch, series: metrics},
    {title: `${metric} by time of training`, format: 'percent', seconds: sums(epochSeconds || []), series: metrics},
    {title: 'Epoch time, and phases on rank 0', format: 'seconds', cap: usualMost(epochSeconds || []),
      series: [{name: 'training alone', y: epochSeconds}, ...byPhase]},
    changes ? {title: 'Learning rate', format: 'plain', series: rate}
            : {title: 'Memory', format: 'bytes', series: resident},
    {title: 'Error of stale rows and gradients', format: 'percent', mayBeLogarithmic: true,
      series: Object.entries(staleness).map(([name, y]) => ({name, y}))},
  ].map(chart => ({...chart, epochs: epoch}));
}

// The values of each server's ranks, by server, in the order of their first ranks.
function byServer(hosts, values) {
  const servers = new Map();
  values.forEach((value, rank) => servers.set(hosts[rank], [...(servers.get(hosts[rank]) || []), value]));
  return [...servers.values()];
}

const pictures = {
  phases(figure) {
    const names = Object.keys(run.phasesByRank[0] || {});
    const bars = grouped(run.phasesByRank.map(phases => names.map(name => phases[name] || 0)), 'rank');
    barPicture(figure, bars, names, 'seconds', 'seconds by phase and rank');
  },
  stages: figure => stagePicture(figure, run.pipeline.stages),
  memory: figure => barPicture(figure, grouped(byServer(run.setting.hosts, run.peakMemoryBytes), 'server'), [], 'bytes',
    'peak memory by server and rank'),
  purposes(figure) {
    const names = [...new Set(run.trainingTraffic.map(t => t.purpose))];
    const bars = [...new Set(run.trainingTraffic.map(t => t.link))].map(link => ({label: link, values: names.map(name =>
      sum(run.trainingTraffic.filter(t => t.link === link && t.purpose === name).map(t => t.bytes)))}));
    barPicture(figure, bars, names, 'bytes', 'bytes by link and purpose');
  },
  pairs(figure) {
    const {hosts} = run.setting, {values, step} = run.bytesByPair, most = Math.max(...values);
    const borders = step > 1 ? [] : hosts.map((_, rank) => rank).filter(rank => rank > 0 && hosts[rank] !== hosts[rank - 1]);
    matrixPicture(figure, {...run.bytesByPair, format: 'bytes', share: value => value / most, rowTitle: 'from rank', columnTitle: 'to rank',
      word: 'rank', words: 'ranks', borders});
  },
  confusion(figure) {
    const {size, values} = run.confusion, totals = Array.from({length: size}, (_, row) => sum(values.slice(row * size, (row + 1) * size)));
    matrixPicture(figure, {...run.confusion, format: 'count', share: (value, row) => value / totals[row], rowTitle: 'true class',
      columnTitle: 'predicted class', word: 'class', words: 'classes', mistakes: true});
  },
};

const curves = document.getElementById('curves');
if (run.epochs.epoch) for (const chart of charts(run.epochs)) curveChart(curves, chart);
for (const figure of document.querySelectorAll('figure[data-picture]')) pictures[figure.dataset.picture](figure);
