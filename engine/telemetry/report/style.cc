// How a report looks and answers to the pointer: the page's style sheet and script.
#include "telemetry/report/parts.h"

namespace atl {

// Colours are Okabe and Ito's, told apart by every kind of colour vision, darkened for a white page and
// lightened for a black one. s = stroke, f = fill, b = background of the legend's squares.
const char* report_style() {
  return R"css(
:root{color-scheme:light dark;
 --page:#f6f7f9;--card:#fff;--ink:#16202c;--soft:#5b6775;--rule:#e3e7ec;--accent:#0b6bcb;--heat:#0b62bd;--miss:#cf4a00;--on-heat:#fff;
 --good:#0a7d55;--warn:#a85a00;
 --c1:#0b6bcb;--c2:#e07b00;--c3:#00906a;--c4:#b5508f;--c5:#7a6fd0;--c6:#3aa3d8;--c7:#a58b00;--c8:#8a94a0}
@media(prefers-color-scheme:dark){:root{
 --page:#0e1319;--card:#161d26;--ink:#e8edf3;--soft:#98a5b4;--rule:#28323e;--accent:#63b0ff;--heat:#5aaeff;--miss:#ff8a4a;--on-heat:#08121e;
 --good:#3fcf9a;--warn:#f0a94a;
 --c1:#5aaeff;--c2:#ffab40;--c3:#2fc79c;--c4:#e58bc2;--c5:#a79cf2;--c6:#86d2f7;--c7:#dcc64a;--c8:#8f9aa8}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Inter,Roboto,"Helvetica Neue",sans-serif;
 font-variant-numeric:tabular-nums;-webkit-font-smoothing:antialiased}
main{max-width:1128px;margin:0 auto;padding:36px 24px 64px}
header{display:flex;align-items:center;gap:16px;margin-bottom:22px}
header svg{width:46px;height:46px;flex:none}
h1{font-size:26px;line-height:1.2;font-weight:680;letter-spacing:-.015em;margin:0}
header p{margin:2px 0 0;color:var(--soft)}
.outcome{margin-left:auto;padding:4px 12px;border-radius:99px;border:1px solid currentColor;font-size:13px;font-weight:600;color:var(--good);white-space:nowrap}
.outcome.partial{color:var(--warn)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:1px;background:var(--rule);border:1px solid var(--rule);border-radius:12px;overflow:hidden;margin-bottom:16px}
.tile{background:var(--card);padding:16px 18px}
.tile span{display:block;color:var(--soft);font-size:13px}
.tile b{display:block;font-size:25px;line-height:1.3;font-weight:640;letter-spacing:-.02em;white-space:nowrap}
.tile:first-child b{color:var(--accent)}
.tile small{color:var(--soft);font-size:12.5px}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:16px}
section{background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:18px 20px;margin:0 0 16px;min-width:0}
.grid>section{margin:0}.grid{margin-bottom:16px}
h2{font-size:17px;font-weight:650;letter-spacing:-.01em;margin:0 0 2px}
h3{font-size:15px;font-weight:650;margin:0}
section>p{margin:0 0 12px;color:var(--soft);font-size:13.5px;max-width:105ch}
figure{margin:0;position:relative}
figcaption{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 18px;margin-bottom:8px}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13px;color:var(--soft)}
.legend b{color:var(--ink);font-weight:600}
.legend i{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:6px}
svg{display:block;width:100%;height:auto;overflow:visible}
.matrix svg{margin:0 auto}
.tick{fill:var(--soft);font-size:11.5px}.number{fill:var(--ink);font-size:11px}.strong{fill:var(--on-heat)}
.wide .tick{font-size:12.5px}
svg .grid{stroke:var(--rule);fill:none}.axis{stroke:var(--soft);fill:none;opacity:.6}
.mark{stroke:var(--soft);stroke-dasharray:3 4;fill:none}
.line{fill:none;stroke-width:1.9;stroke-linejoin:round;stroke-linecap:round}
.cursor{stroke:var(--soft);visibility:hidden}
.heat{fill:var(--heat)}.miss{fill:var(--miss)}.floor{fill:var(--page)}.border{stroke:var(--ink);stroke-width:1.2;opacity:.55;fill:none}
.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}.s5{stroke:var(--c5)}.s6{stroke:var(--c6)}.s7{stroke:var(--c7)}.s8{stroke:var(--c8)}
.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}.f6{fill:var(--c6)}.f7{fill:var(--c7)}.f8{fill:var(--c8)}
.b1{background:var(--c1)}.b2{background:var(--c2)}.b3{background:var(--c3)}.b4{background:var(--c4)}.b5{background:var(--c5)}.b6{background:var(--c6)}.b7{background:var(--c7)}.b8{background:var(--c8)}
table{border-collapse:collapse;width:100%;font-size:14px}
td,th{padding:5px 0;border-top:1px solid var(--rule);text-align:left;vertical-align:top;font-weight:400;overflow-wrap:anywhere}
tr:first-child>*{border-top:0}
th{color:var(--soft);width:9.5em;padding-right:14px}
table.pairs{margin-top:14px}table.pairs td:last-child{text-align:right;white-space:nowrap}
pre{margin:0;font:12.5px/1.6 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;max-height:560px;overflow:auto}
#tip{position:fixed;z-index:2;pointer-events:none;visibility:hidden;background:var(--ink);color:var(--card);padding:7px 10px;border-radius:8px;font-size:12.5px;line-height:1.5;white-space:nowrap;box-shadow:0 4px 16px #0003}
#tip i{display:inline-block;width:8px;height:8px;border-radius:2px;margin-right:6px}
footer{color:var(--soft);font-size:13px;margin-top:22px}
@media print{body{background:#fff}section,.tiles{break-inside:avoid}pre{max-height:none}}
)css";
}

const char* report_script() {
  return R"js(
(() => {
  const tip = document.getElementById('tip');
  const digits = v => v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2);
  const bytes = v => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let u = 0;
    for (; v >= 1023.5 && u < 5; ++u) v /= 1024;
    return (u ? digits(v) : v.toFixed(0)) + ' ' + units[u];
  };
  const seconds = v => v < 999.5e-6 ? digits(v * 1e6) + ' µs' : v < .9995 ? digits(v * 1e3) + ' ms' : digits(v) + ' s';
  const formats = {plain: v => v.toPrecision(4), percent: v => (v * 100).toFixed(2) + ' %', seconds, bytes,
                   count: v => v.toLocaleString('en-US')};
  const hide = () => { tip.style.visibility = 'hidden'; };
  const show = (event, html) => {
    tip.innerHTML = html;
    const box = tip.getBoundingClientRect();
    const x = event.clientX + 16 + box.width > innerWidth ? event.clientX - 16 - box.width : event.clientX + 16;
    tip.style.left = x + 'px';
    tip.style.top = Math.min(event.clientY + 14, innerHeight - box.height - 8) + 'px';
    tip.style.visibility = 'visible';
  };
  const place = (svg, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

  for (const figure of document.querySelectorAll('figure.chart')) {
    const svg = figure.querySelector('svg'), cursor = figure.querySelector('.cursor');
    const data = JSON.parse(figure.querySelector('script').textContent), format = formats[data.format];
    svg.addEventListener('pointermove', event => {
      const x = place(svg, event).x;
      let nearest = 0;
      data.x.forEach((at, i) => { if (Math.abs(at - x) < Math.abs(data.x[nearest] - x)) nearest = i; });
      cursor.setAttribute('transform', `translate(${data.x[nearest]} 0)`);
      cursor.style.visibility = 'visible';
      const lines = data.series.filter(s => s.y[nearest] !== null)
                        .map(s => `<i class=b${s.colour}></i>${s.name} <b>${format(s.y[nearest])}</b>`);
      show(event, [`epoch ${data.epochs[nearest].toLocaleString('en-US')}`, ...lines].join('<br>'));
    });
    svg.addEventListener('pointerleave', () => { cursor.style.visibility = 'hidden'; hide(); });
  }

  for (const figure of document.querySelectorAll('figure.matrix')) {
    const svg = figure.querySelector('svg');
    const data = JSON.parse(figure.querySelector('script').textContent), format = formats[data.format];
    const name = i => data.step === 1 ? i : `${i * data.step}–${(i + 1) * data.step - 1}`;
    svg.addEventListener('pointermove', event => {
      const at = place(svg, event);
      const row = Math.floor((at.y - data.top) / data.cell), column = Math.floor((at.x - data.left) / data.cell);
      if (row < 0 || column < 0 || row >= data.size || column >= data.size) return hide();
      const value = data.values[row * data.size + column];
      let sum = 0;
      for (let c = 0; c < data.size; ++c) sum += data.values[row * data.size + c];
      const share = data.format === 'count' && sum ? ` (${(100 * value / sum).toFixed(1)} %)` : '';
      show(event, `${data.row} ${name(row)} → ${data.column} ${name(column)}<br><b>${format(value)}</b>${share}`);
    });
    svg.addEventListener('pointerleave', hide);
  }
})();
)js";
}

}  // namespace atl
