/** Of the inspector's page. Tones: what goes well, what is on its way, what is in trouble. */
export const inspectorStyle = `
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --panel: #ffffff; --raised: #f8f9fb; --line: #dfe3e8; --ink: #1b2430; --soft: #5d6875; --faint: #8b95a1;
  --edge: #a9b2bd; --accent: #2f5bd8; --good: #0f7b54; --good-wash: #e3f4ec; --warn: #9a5b00; --warn-wash: #fdf0d9;
  --bad: #b3261e; --bad-wash: #fce8e6; --taken: #c2410c;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --panel: #161b22; --raised: #1c222b; --line: #2b333e; --ink: #e6eaf0; --soft: #9ea9b6; --faint: #74808d;
    --edge: #56616e; --accent: #7aa2ff; --good: #4cc38a; --good-wash: #12321f; --warn: #f0b04a; --warn-wash: #38290c;
    --bad: #ff8b80; --bad-wash: #401a17; --taken: #ff9d5c;
  }
}
* { box-sizing: border-box; margin: 0; padding: 0; }
html, body { height: 100%; }
body { display: flex; flex-direction: column; background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
button, input { font: inherit; color: inherit; }
h2 { font-size: 13px; font-weight: 650; }
h3 { font-size: 11px; font-weight: 600; letter-spacing: .04em; text-transform: uppercase; color: var(--faint); }

header { display: flex; align-items: center; gap: 16px; padding: 9px 16px; background: var(--panel); border-bottom: 1px solid var(--line); }
h1 { font-size: 15px; font-weight: 700; }
h1 span { font-weight: 400; color: var(--soft); }
#runtime { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); font: 12px var(--mono); }
#link { display: flex; align-items: center; gap: 7px; font-size: 13px; color: var(--soft); }
#link i { width: 8px; height: 8px; border-radius: 50%; background: var(--faint); }
#link[data-link=live] i { background: var(--good); box-shadow: 0 0 0 3px var(--good-wash); }
#link[data-link=lost] i, #link[data-link=paused] i { background: var(--warn); }
#link[data-link=ended] i, #link[data-link=refused] i { background: var(--bad); }
#pause { padding: 3px 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--raised); cursor: pointer; }
#pause[aria-pressed=true] { border-color: var(--warn); color: var(--warn); background: var(--warn-wash); }

main { flex: 1; min-height: 0; display: grid; gap: 10px; padding: 10px; grid: minmax(0, 1.75fr) minmax(150px, 1fr) / 224px minmax(0, 1fr) clamp(230px, 24vw, 400px); }
nav { grid-row: span 2; }
#stage { grid-column: span 2; }
nav, main > section { min-width: 0; min-height: 0; overflow: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }

nav { padding: 12px 8px; }
nav h2 { padding: 0 8px 8px; }
nav h2 span { color: var(--faint); font-weight: 400; }
nav ul { list-style: none; }
nav ul ul { margin-left: 11px; padding-left: 5px; border-left: 1px solid var(--line); }
nav button { display: flex; align-items: center; gap: 8px; width: 100%; padding: 3px 8px; border: 0; border-radius: 6px; background: none; text-align: left; cursor: pointer; font-size: 13px; }
nav button:hover { background: var(--raised); }
nav button[aria-current=true] { background: color-mix(in srgb, var(--accent) 14%, transparent); }
nav button b { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 500; }
nav button b small { display: block; margin-bottom: -2px; font-size: 10.5px; font-weight: 400; color: var(--faint); }
nav li.over > button { opacity: .5; }
.tag { padding: 0 7px; border-radius: 9px; font-size: 11px; line-height: 18px; white-space: nowrap; max-width: 118px; overflow: hidden; text-overflow: ellipsis; color: var(--soft); background: var(--raised); }
.tag[data-tone=good] { color: var(--good); background: var(--good-wash); }
.tag[data-tone=warn] { color: var(--warn); background: var(--warn-wash); }
.tag[data-tone=bad] { color: var(--bad); background: var(--bad-wash); }

#stage { display: flex; flex-direction: column; }
#heading { display: flex; align-items: baseline; gap: 10px; padding: 12px 16px; border-bottom: 1px solid var(--line); }
#heading h2 { font-size: 15px; }
#state .tag { font-size: 13px; line-height: 22px; max-width: none; }
#since { margin-left: auto; color: var(--faint); font-size: 12px; }
#chart { flex: 1; min-height: 0; display: grid; place-items: safe center; padding: 14px 16px; overflow: auto; }
#chart svg { display: block; width: 100%; height: 100%; }
#chart p { color: var(--soft); }
#facts { padding: 11px 14px 14px; font: 12px/1.6 var(--mono); }
#facts h3 { font-family: system-ui, sans-serif; margin: 0 0 3px; }
#facts p { margin-bottom: 12px; overflow-wrap: anywhere; }
#last em { font-style: normal; color: var(--taken); }
#context div { display: flex; justify-content: space-between; gap: 12px; }
#context dt { color: var(--soft); }
#context dd { min-width: 0; overflow-wrap: anywhere; text-align: right; }

svg text { font: 11px var(--mono); fill: var(--ink); }
svg .title { font: 650 13px system-ui, sans-serif; }
svg .guard, svg .deed { fill: var(--soft); }
svg .guard { font-size: 10px; }
svg .deed { font-style: italic; }
svg .box { fill: var(--raised); stroke: var(--line); stroke-width: 1.3; }
svg .state .state .box { fill: var(--panel); }
svg .any > .box { fill: none; stroke-dasharray: 4 3; }
svg .outline { fill: none; stroke: var(--line); }
svg .initial { fill: var(--soft); }
svg .hit { fill: transparent; }
svg .row:hover .hit { fill: color-mix(in srgb, var(--accent) 12%, transparent); }
svg .edge { fill: none; stroke: var(--edge); stroke-width: 1.2; marker-end: url(#arrow); }
svg .arrow path { fill: var(--edge); }
svg .arrow-taken path { fill: var(--taken); }
svg .edge.near { stroke: var(--accent); stroke-width: 1.8; }
svg .edge.taken { stroke: var(--taken); stroke-width: 2; marker-end: url(#arrow-taken); }
svg .row.taken text { fill: var(--taken); font-weight: 650; }
svg .row.taken .guard { fill: var(--taken); font-weight: 400; }
svg .live > .box, svg .live > .outline { stroke: var(--tone); stroke-width: 2; }
svg .live > .box { fill: var(--wash); }
svg .live > .title { fill: var(--tone); }
svg .live > .initial { fill: var(--tone); }
svg .live { --tone: var(--good); --wash: var(--good-wash); }
svg .live[data-tone=warn] { --tone: var(--warn); --wash: var(--warn-wash); }
svg .live[data-tone=bad] { --tone: var(--bad); --wash: var(--bad-wash); }

#log { display: flex; flex-direction: column; overflow: hidden; }
#tools { display: flex; align-items: center; gap: 10px; padding: 9px 12px; border-bottom: 1px solid var(--line); }
#tools label { display: flex; align-items: center; gap: 5px; font-size: 12px; color: var(--soft); white-space: nowrap; }
#filter { flex: 1; min-width: 60px; padding: 3px 9px; border: 1px solid var(--line); border-radius: 6px; background: var(--raised); }
#events { flex: 1; overflow: auto; list-style: none; font-size: 12.5px; }
#events:empty, #events:not(:empty) ~ #nothing { display: none; }
#nothing { padding: 20px; color: var(--soft); text-align: center; }
#events li { border-bottom: 1px solid var(--line); }
#events li[hidden] { display: none; }
#events summary { display: grid; grid-template-columns: 92px minmax(0, 1.1fr) minmax(0, 1.2fr) minmax(0, 1.2fr); gap: 10px; padding: 2px 12px; cursor: pointer; list-style: none; line-height: 20px; }
#events summary::-webkit-details-marker { display: none; }
#events summary:hover { background: var(--raised); }
#events summary > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#events time { color: var(--faint); font: 11px/20px var(--mono); }
#events .what { font: 12px/20px var(--mono); }
#events .who { color: var(--soft); }
#events .change { font-weight: 550; color: var(--taken); }
#events .gap { padding: 6px 12px; color: var(--warn); background: var(--warn-wash); }
#events pre { padding: 4px 12px 10px; font: 11px/1.5 var(--mono); color: var(--soft); white-space: pre-wrap; overflow-wrap: anywhere; }

@media (max-width: 1100px) {
  main { grid-template-columns: 186px minmax(0, 1fr) 236px; }
}
@media (max-width: 760px) {
  main { display: block; overflow: auto; }
  main > * { margin-bottom: 10px; max-height: 80vh; }
}
@media (prefers-reduced-motion: no-preference) {
  svg .box { transition: fill .18s, stroke .18s; }
  svg .edge.taken { animation: taken .5s ease-out; }
  @keyframes taken { from { stroke-width: 5; } }
}
`;
