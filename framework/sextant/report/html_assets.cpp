#include <sextant/report/chart.hpp>
#include <sextant/report/html_assets.hpp>
#include <sextant/report/text.hpp>

namespace sextant::report {
namespace {
constexpr char const* light_page =
    "--page:#ffffff;--ink:#1c2127;--muted:#5a6470;--rule:#dfe4ea;--soft:#f6f7f9;--link:#0b5cad;"
    "--best:#dff3e9;--tied:#f1faf5;--best-ink:#0d5a3f;--worse-ink:#9a3b00;--warn:#fff4e0;--warn-ink:#7a4a00;--trained:#"
    "f3f5f8;color-scheme:light;";
constexpr char const* dark_page =
    "--page:#14181d;--ink:#e8ebef;--muted:#a3adb9;--rule:#2e353f;--soft:#1b2028;--link:#7cb8f5;"
    "--best:#12382b;--tied:#15261f;--best-ink:#8be0bb;--worse-ink:#ffab7a;--warn:#3a2a10;--warn-ink:#ffcf8a;--trained:#"
    "1b2028;color-scheme:dark;";

constexpr char const* rules = R"css(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:4rem}
body{margin:0;background:var(--page);color:var(--ink);font:17px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;text-rendering:optimizeLegibility}
main,.bar-in{max-width:1060px;margin:0 auto;padding:0 28px}
.bar{position:sticky;top:0;z-index:5;background:var(--page);border-bottom:1px solid var(--rule)}
.bar-in{display:flex;align-items:center;gap:22px;height:52px}
.brand{font-weight:650;letter-spacing:.01em;white-space:nowrap}
.bar nav{display:flex;gap:18px;overflow-x:auto;flex:1;font-size:.87rem;scrollbar-width:none}
.bar nav a{color:var(--muted);text-decoration:none;white-space:nowrap;padding:4px 0}
.bar nav a:hover,.bar nav a:focus-visible{color:var(--ink);text-decoration:underline;text-underline-offset:4px}
button{font:inherit;font-size:.87rem;color:var(--ink);background:var(--soft);border:1px solid var(--rule);border-radius:8px;padding:5px 12px;cursor:pointer;white-space:nowrap}
button:hover{border-color:var(--muted)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999px}
.skip:focus{left:12px;top:8px;z-index:9;background:var(--page);padding:6px 12px}
header{padding:64px 0 8px;max-width:48rem}
.kicker{margin:0 0 10px;color:var(--muted);font-size:.95rem}
h1,h2{font-family:"Iowan Old Style","Palatino Linotype",Palatino,"URW Palladio L",P052,"Book Antiqua",Charter,"Bitstream Charter","Source Serif 4","Noto Serif",Georgia,ui-serif,serif;font-weight:600;line-height:1.18;letter-spacing:-.008em;text-wrap:balance;overflow-wrap:anywhere}
h1{font-size:clamp(1.9rem,4.6vw,2.9rem);margin:0 0 20px}
h2{font-size:1.62rem;margin:0 0 6px}
h3{font-size:1.02rem;margin:26px 0 8px;font-weight:650}
section{padding:44px 0 0}
p{margin:0 0 12px;max-width:46rem}
.question{font-size:1.16rem;line-height:1.55;color:var(--muted);margin:0 0 26px;max-width:44rem}
.findings{margin:0 0 20px;padding:0;list-style:none;max-width:46rem}
.findings li{margin:0 0 8px;padding-left:18px;border-left:3px solid var(--rule)}
.findings li:first-child{border-color:var(--sx-i2);font-size:1.1rem}
.meta{display:flex;flex-wrap:wrap;gap:6px 26px;margin:22px 0 0;padding:0;color:var(--muted);font-size:.9rem}
.meta div{display:flex;gap:7px}.meta dt{margin:0}.meta dd{margin:0;color:var(--ink);font-variant-numeric:tabular-nums}
.lead{color:var(--muted)}
.scroll{overflow-x:auto;margin:18px 0 14px;max-width:100%}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.93rem;line-height:1.35}
.wide-table{min-width:100%}
th,td{padding:9px 14px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap;vertical-align:baseline}
th:first-child,td:first-child{text-align:left;padding-left:4px}
thead th{font-weight:600;border-bottom:1.5px solid var(--muted);vertical-align:bottom}
thead small{display:block;font-weight:400;color:var(--muted);font-size:.76rem}
tbody th{font-weight:500}
tbody tr:last-child>*{border-bottom:1.5px solid var(--muted)}
.results thead th:first-child,.results tbody th{position:sticky;left:0;background:var(--page);z-index:1}
.results tbody th{padding-left:44px;white-space:normal;overflow-wrap:anywhere;min-width:12.5rem}
.results tbody th .sx-swatch{position:absolute;left:4px;top:.78rem;margin:0}
.words th,.words td{text-align:left}
.sx-swatch{vertical-align:-2px;margin-right:9px;overflow:visible}
.results tbody .sub th{padding-left:62px}
.results tbody .sub th .sx-swatch{left:22px}
td.trained,th.trained{background:var(--trained)}
td.best{background:var(--best);font-weight:650;color:var(--best-ink)}
td.tied{background:var(--tied);color:var(--best-ink)}
td.better{color:var(--best-ink)}td.worse{color:var(--worse-ink)}td.unclear{color:var(--muted)}
td.better .mark{color:var(--best-ink)}td.worse .mark{color:var(--worse-ink)}
td .p{display:block;font-size:.76rem;margin-right:1.45em}
td .pm{color:var(--muted);font-size:.86em;margin-left:.4em;font-weight:400}
.mark{display:inline-block;width:1.1em;text-align:right;color:var(--best-ink)}
thead small{margin-right:1.4em}
td.none{color:var(--muted)}
td small{color:var(--muted)}
.notes{color:var(--muted);font-size:.87rem;margin:0 0 16px;padding:0;list-style:none;max-width:46rem}
.notes li{margin:0 0 2px}
.notes .key{color:var(--best-ink);display:inline-block;width:1.2em}
.claims{list-style:none;margin:18px 0 14px;padding:0}
h3+.claims{margin-top:0}
.jumps{list-style:none;margin:18px 0 14px;padding:0;columns:22rem;font-size:.93rem}
.jumps li{margin:0 0 5px;break-inside:avoid}.jumps .side{color:var(--muted);margin-left:10px;font-size:.87em}
.claim{display:grid;grid-template-columns:9.2rem 1fr 15rem;gap:4px 20px;padding:14px 4px;border-bottom:1px solid var(--rule)}
.claim .verdict{display:flex;gap:8px;align-items:baseline;white-space:nowrap}
.claim .sign{display:inline-block;flex:none;width:1.5em;text-align:center;border-radius:6px;background:var(--soft);font-weight:650}
.claim.holds .sign{background:var(--best);color:var(--best-ink)}.claim.holds b{color:var(--best-ink)}
.claim.fails .sign{background:var(--warn);color:var(--warn-ink)}.claim.fails b{color:var(--worse-ink)}
.claim.open b{color:var(--muted)}
.claim .says{margin:0 0 3px}.claim .why{margin:3px 0 0;color:var(--muted);font-size:.87rem}
.claim .numbers span{display:block;font-size:.84rem;color:var(--muted);font-variant-numeric:tabular-nums}
.claim .span{display:block;width:100%;max-width:15rem;height:26px;fill:var(--ink);stroke:var(--ink);stroke-width:2}
.claim .span .zero{stroke:var(--muted);stroke-width:1}
.claim .span .bound{stroke:var(--worse-ink);stroke-width:1.5;stroke-dasharray:4 3}
.claim .span circle{stroke:none}
figure{margin:36px 0 0}
figcaption{max-width:46rem;margin:8px 0 4px}
figcaption b{font-weight:650}
.plot{position:relative}
.sx-chart,.sx-maps{display:block;width:100%;height:auto;overflow:visible;font-variant-numeric:tabular-nums}
.sx-narrow{display:none}
.sx-label{cursor:pointer}
.dim .sx-line,.dim .sx-band,.dim .sx-label{opacity:.16}
.dim .on{opacity:1!important}
.sx-line,.sx-band,.sx-label{transition:opacity .12s}
.readout{position:absolute;pointer-events:none;z-index:4;background:var(--page);border:1px solid var(--rule);border-radius:8px;padding:8px 12px;font-size:.82rem;line-height:1.45;box-shadow:0 6px 24px rgba(0,0,0,.14);font-variant-numeric:tabular-nums;white-space:nowrap}
.readout b{display:block;margin-bottom:2px}
.readout span{display:flex;justify-content:space-between;gap:18px}
.readout i{font-style:normal}
.hair{position:absolute;width:1px;background:var(--muted);opacity:.5;pointer-events:none}
details{border-top:1px solid var(--rule)}
details:last-of-type{border-bottom:1px solid var(--rule)}
figure details{margin-top:14px;border-bottom:1px solid var(--rule)}
summary{cursor:pointer;padding:11px 4px;list-style-position:outside;margin-left:18px}
summary:hover{color:var(--link)}
summary .side{color:var(--muted);font-size:.87rem;margin-left:10px}
details>div{padding:4px 4px 20px 22px}
pre{margin:8px 0 0;padding:14px 16px;background:var(--soft);border-radius:8px;overflow:auto;max-height:26rem;font:13px/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;tab-size:2}
code{font:.88em ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
a{color:var(--link);text-underline-offset:3px}
.facts{display:grid;grid-template-columns:minmax(9rem,max-content) 1fr;gap:5px 22px;margin:10px 0;font-size:.92rem}
.facts dt{color:var(--muted)}.facts dd{margin:0;overflow-wrap:anywhere}
.fail{background:var(--warn);color:var(--warn-ink);border-radius:10px;padding:14px 18px;margin:12px 0}
.fail b{font-weight:650}.fail pre{background:transparent;padding:8px 0 0;white-space:pre-wrap;overflow-wrap:anywhere}
.scroll:focus-visible,pre:focus-visible{outline-offset:0}
ol.sources{padding-left:1.3rem;max-width:46rem}
footer{margin:72px 0 56px;padding-top:18px;border-top:1px solid var(--rule);color:var(--muted);font-size:.87rem}
@media (max-width:700px){
body{font-size:16px}main,.bar-in{padding:0 18px}
.brand{display:none}.bar-in{gap:14px}
header{padding-top:34px}section{padding-top:34px}
.sx-wide{display:none}.sx-narrow{display:block}
th,td{padding:8px 10px}
.results tbody th{min-width:9.2rem;padding-left:32px}
.results tbody .sub th{padding-left:40px}
.results tbody th .sx-swatch{width:22px;left:2px;top:.6rem}
.results tbody .sub th .sx-swatch{left:10px}
.claim{grid-template-columns:1fr}
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:8px}
details>div{padding-left:4px}
}
@media (prefers-reduced-motion:reduce){*{transition:none!important}}
@media print{
body{font-size:10.5pt}.bar,.skip,.readout,.hair{display:none!important}
main{max-width:none;padding:0}header{padding-top:0}section{padding-top:22pt}
figure,tr,.fail{break-inside:avoid}h2,h3,figcaption{break-after:avoid}
figure details{display:none}.scroll{overflow:visible}pre{max-height:none;white-space:pre-wrap}
table{font-size:8.5pt}th,td{padding:4pt 6pt}thead small{font-size:7pt}
.results tbody th .sx-swatch{top:4.5pt}
.sx-wide{display:block}.sx-narrow{display:none}
}
)css";

constexpr char const* script = R"js(
(function () {
  'use strict';
  var root = document.documentElement, key = 'sextant-theme', store;
  try { store = window.localStorage; } catch (e) { store = null; }
  function dark() {
    var t = root.getAttribute('data-theme');
    return t ? t === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
  }
  var button = document.getElementById('theme');
  function name() { button.textContent = dark() ? 'Light' : 'Dark'; button.setAttribute('aria-label', 'Switch to the ' + (dark() ? 'light' : 'dark') + ' theme'); }
  try { if (store && store.getItem(key)) root.setAttribute('data-theme', store.getItem(key)); } catch (e) {}
  button.hidden = false;
  name();
  button.addEventListener('click', function () {
    root.setAttribute('data-theme', dark() ? 'light' : 'dark');
    try { if (store) store.setItem(key, root.getAttribute('data-theme')); } catch (e) {}
    name();
  });

  function scale(text) { var p = text.split(' '); return { log: p[0] !== 'linear', low: +p[1], high: +p[2] }; }
  function value(s, share) {
    return s.log ? Math.exp(Math.log(s.low) + share * (Math.log(s.high) - Math.log(s.low))) : s.low + share * (s.high - s.low);
  }
  function brief(v, digits) { return v.toLocaleString('en', { maximumFractionDigits: digits }); }

  document.querySelectorAll('.plot').forEach(function (plot) {
    var svgs = plot.querySelectorAll('svg.sx-chart'), hold = null;
    function light_up(series) {
      plot.classList.toggle('dim', series !== null);
      plot.querySelectorAll('[data-series]').forEach(function (e) { e.classList.toggle('on', e.getAttribute('data-series') === series); });
    }
    plot.querySelectorAll('.sx-label').forEach(function (label) {
      var s = label.getAttribute('data-series');
      label.addEventListener('mouseenter', function () { light_up(s); });
      label.addEventListener('mouseleave', function () { light_up(hold); });
      label.addEventListener('focus', function () { light_up(s); });
      label.addEventListener('blur', function () { light_up(hold); });
      label.addEventListener('click', function () { hold = hold === s ? null : s; light_up(hold); });
      label.addEventListener('keydown', function (e) {
        if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); hold = hold === s ? null : s; light_up(hold || s); }
        if (e.key === 'Escape') { hold = null; light_up(null); }
      });
    });
    svgs.forEach(function (svg) {
      var box = svg.getAttribute('data-plot').split(' ').map(Number), x = scale(svg.getAttribute('data-x')), y = scale(svg.getAttribute('data-y'));
      var width = svg.viewBox.baseVal.width, series = [];
      svg.querySelectorAll('.sx-line:not(.sx-control)').forEach(function (g) {
        var points = g.querySelector('.sx-stroke').getAttribute('d').split(/[ML]/).filter(Boolean).map(function (p) { return p.split(',').map(Number); });
        series.push({ label: g.getAttribute('data-label'), points: points, ink: g.getAttribute('class') });
      });
      var tip = document.createElement('div'), hair = document.createElement('div');
      tip.className = 'readout'; tip.hidden = true; hair.className = 'hair'; hair.hidden = true;
      plot.appendChild(hair); plot.appendChild(tip);
      function hide() { tip.hidden = hair.hidden = true; }
      svg.addEventListener('pointerleave', hide);
      svg.addEventListener('pointermove', function (e) {
        var r = svg.getBoundingClientRect(), f = width / r.width, at = (e.clientX - r.left) * f, down = (e.clientY - r.top) * f;
        if (at < box[0] - 8 || at > box[0] + box[2] + 8 || down < box[1] || down > box[1] + box[3] || !series.length) return hide();
        var best = null;
        series.forEach(function (s) { s.points.forEach(function (p) { if (best === null || Math.abs(p[0] - at) < Math.abs(best - at)) best = p[0]; }); });
        var rows = [];
        series.forEach(function (s) {
          s.points.forEach(function (p) { if (Math.abs(p[0] - best) < 0.02) rows.push({ label: s.label, v: value(y, 1 - (p[1] - box[1]) / box[3]), ink: s.ink }); });
        });
        rows.sort(function (a, b) { return a.v - b.v; });
        tip.textContent = '';
        var head = document.createElement('b');
        head.textContent = svg.getAttribute('data-name') + ' ' + brief(value(x, (best - box[0]) / box[2]), 0);
        tip.appendChild(head);
        rows.slice(0, 16).forEach(function (row) {
          var line = document.createElement('span'), a = document.createElement('i'), b = document.createElement('i');
          a.textContent = row.label.length > 40 ? row.label.slice(0, 39) + '…' : row.label;
          a.className = row.ink.replace('sx-line', '');
          b.textContent = row.v.toFixed(3);
          line.appendChild(a); line.appendChild(b); tip.appendChild(line);
        });
        if (rows.length > 16) { var more = document.createElement('span'); more.textContent = 'and ' + (rows.length - 16) + ' more'; tip.appendChild(more); }
        tip.hidden = hair.hidden = false;
        var left = best / f, host = plot.getBoundingClientRect();
        hair.style.left = left + 'px'; hair.style.top = box[1] / f + 'px'; hair.style.height = box[3] / f + 'px';
        var room = host.width - left;
        tip.style.left = Math.max(0, room > tip.offsetWidth + 24 ? left + 14 : left - tip.offsetWidth - 14) + 'px';
        tip.style.top = Math.max(0, Math.min(down / f - 20, (box[1] + box[3]) / f - tip.offsetHeight)) + 'px';
      });
    });
  });
})();
)js";
}  // namespace

std::string page_css() {
  std::string const bright = cat({light_page, chart_variables(false)}), night = cat({dark_page, chart_variables(true)});
  return cat({":root{", bright, "}\n@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){",
              night, "}}\n@media screen{:root[data-theme=dark]{", night, "}}\n", rules, chart_css()});
}

std::string page_script() { return script; }

}  // namespace sextant::report
