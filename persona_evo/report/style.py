"""The style of the page: readable on a laptop and a phone, in light and dark."""

STYLE = """
:root {
  --ground: #f7f6f3; --card: #ffffff; --ink: #1e2227; --dim: #626a73; --line: #dcdfe3; --accent: #0a5ea8;
  --bad: #b3261e; --bad-ground: #fdecea; --warn: #8a5a00; --warn-ground: #fdf3dc; --good: #1c6b3a;
  --good-ground: #e6f4ea; --bar: #e7eaee; --span: #9cc3e6; --more: rgb(10 40 80 / 38%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --card: #1d2126; --ink: #e6e8eb; --dim: #9aa3ad; --line: #343a42; --accent: #7cb8f2;
    --bad: #ff9c94; --bad-ground: #3a1e1c; --warn: #f0c674; --warn-ground: #352a14; --good: #86d6a0;
    --good-ground: #17301f; --bar: #2c3239; --span: #3d6f9e; --more: rgb(150 200 255 / 45%);
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
header, main { max-width: 1900px; margin: 0 auto; padding: 0 20px; }
main p, main ul, dl { max-width: 1240px; }
header { padding-top: 28px; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0 0 12px; font-size: 1.25rem; overflow-wrap: anywhere; }
h3 { margin: 22px 0 8px; font-size: 1.02rem; }
.sub { margin: 6px 0 0; color: var(--dim); overflow-wrap: anywhere; }
.dim, small { color: var(--dim); }
.dim { font-size: 0.875rem; }
nav { display: flex; flex-wrap: wrap; gap: 6px; margin: 16px 0 0; max-height: 7.2rem; overflow-y: auto; }
nav a {
  padding: 3px 11px; border: 1px solid var(--line); border-radius: 999px; background: var(--card);
  color: var(--accent); font-size: 0.875rem; text-decoration: none; overflow-wrap: anywhere;
}
nav a:hover, nav a:focus-visible { border-color: var(--accent); }
section {
  margin: 20px 0; padding: 20px; border: 1px solid var(--line); border-radius: 12px; background: var(--card);
  scroll-margin-top: 12px;
}
ul.cards { display: grid; gap: 8px; margin: 0; padding: 0; list-style: none; }
ul.cards li {
  padding: 9px 13px; border-width: 0 0 0 4px; border-style: solid; border-radius: 6px; overflow-wrap: anywhere;
}
ul.cards b { font-size: 0.78rem; letter-spacing: 0.04em; text-transform: uppercase; }
.bad { border-color: var(--bad); background: var(--bad-ground); }
.bad b { color: var(--bad); }
.warn { border-color: var(--warn); background: var(--warn-ground); }
.warn b { color: var(--warn); }
.good { border-color: var(--good); background: var(--good-ground); }
.good b { color: var(--good); }
.tag {
  padding: 0 7px; border: 1px solid var(--line); border-radius: 4px; background: var(--card); font-size: 0.875rem;
}
code { font: 0.9em ui-monospace, "SF Mono", Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
ul.plain { margin: 8px 0; padding-left: 20px; }
.scroll {
  margin: 14px 0 6px; overflow-x: auto;
  background:
    linear-gradient(to left, var(--card) 40%, transparent) right / 56px 100% no-repeat local,
    linear-gradient(to left, var(--more), transparent) right / 22px 100% no-repeat scroll;
}
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption { padding-bottom: 6px; color: var(--dim); font-size: 0.875rem; text-align: left; }
th, td { padding: 5px 12px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
thead th { color: var(--dim); font-weight: 600; white-space: normal; vertical-align: bottom; }
th.wraps, td.wraps, th.prose, td.prose { white-space: normal; }
td.wraps { min-width: 7rem; }
td.prose { min-width: 17rem; }
tbody th { font-weight: 500; }
th:first-child, th.left, td.left { text-align: left; }
th:first-child { padding-left: 2px; }
tbody th { position: sticky; left: 0; background: var(--card); }
.dense table { font-size: 0.82rem; }
.dense th, .dense td { padding: 4px 7px; }
.wrapped th, .wrapped td { white-space: normal; text-wrap: balance; }
.wrapped td:not(.left) { white-space: nowrap; }
tr.total th, tr.total td { border-top: 2px solid var(--line); font-weight: 600; }
.bar { position: relative; display: block; height: 6px; min-width: 96px; margin-top: 4px; border-radius: 3px;
  background: var(--bar); }
.bar i { position: absolute; top: 0; height: 6px; border-radius: 3px; background: var(--span); }
.bar b { position: absolute; top: -2px; width: 3px; height: 10px; margin-left: -1.5px; background: var(--accent); }
.gallery { display: grid; gap: 14px; margin: 14px 0; align-items: start; }
.gallery.heatmap { grid-template-columns: repeat(auto-fill, minmax(225px, 1fr)); }
.gallery.pair { grid-template-columns: repeat(2, minmax(0, 1fr)); max-width: 700px; }
.gallery.replay { grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); }
.gallery.match { grid-template-columns: repeat(auto-fill, minmax(min(100%, 255px), 1fr)); }
figure { margin: 0; padding: 8px; border-radius: 8px; background: #ffffff; border: 1px solid var(--line); }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.chart img { max-height: 460px; }
figcaption { padding-top: 6px; color: #525a63; font-size: 0.83rem; text-align: center; overflow-wrap: anywhere; }
.grids { display: grid; gap: 4px 26px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 470px), 1fr)); }
.grids > div { min-width: 0; }
details { margin: 10px 0; }
summary { color: var(--accent); cursor: pointer; font-size: 0.92rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; font-size: 0.92rem; }
dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 600px) {
  header, main { padding: 0 10px; }
  header { padding-top: 18px; }
  h1 { font-size: 1.35rem; }
  section { margin: 12px 0; padding: 14px 12px; border-radius: 10px; }
  th, td { padding: 5px 8px; }
  td.prose { min-width: 7.5rem; }
  td.wraps { min-width: 5.5rem; }
  tbody th { min-width: 5rem; max-width: 8.5rem; white-space: normal; overflow-wrap: anywhere; }
  .chart figure { overflow-x: auto; }
  .chart img { max-height: none; }
  .chart .wide img { width: 720px; max-width: none; }
  .gallery.heatmap, .gallery.pair { grid-template-columns: repeat(2, minmax(0, 1fr)); max-width: 700px; }
.gallery.replay { grid-template-columns: repeat(2, 1fr); }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
}
@media print {
  body { background: #ffffff; }
  nav { display: none; }
  section { break-inside: avoid; border: 0; padding: 0; }
}
"""
