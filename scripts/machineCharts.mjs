// The statecharts of the machines as data for a page: states and arrows with their places. They are laid out when the page is built, from
// the machines that run, so that a browser has nothing to do but to draw them.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const mark = '\0machine-charts.js';
const root = fileURLToPath(new URL('..', import.meta.url));

/** Makes `charts` of any module that ends in `?charts`. */
export function machineCharts() {
  return {
    name: 'machine-charts',
    resolveId: { order: 'pre', handler: (id) => (id.endsWith('?charts') ? mark : undefined) },
    async load(id) {
      if (id !== mark) return undefined;
      return { code: `export const charts = ${JSON.stringify(await layOutMachines())};`, moduleType: 'js' };
    },
  };
}

let laidOut;

/** Every machine of the catalogue, laid out. */
export function layOutMachines() {
  laidOut ??= layOutAll();
  return laidOut;
}

async function layOutAll() {
  const { chartOf, machineCatalogue } = await loadMachines();
  const { default: Elk } = await import('elkjs/lib/elk.bundled.js');
  const elk = new Elk();
  const charts = await Promise.all(
    Object.entries(machineCatalogue).map(async ([name, { machine, summary }]) => ({
      name,
      summary,
      ...(await layOut(elk, chartOf(machine))),
    })),
  );
  return charts;
}

/** The sources are TypeScript, which Node does not read everywhere. */
async function loadMachines() {
  const entry = 'machines-and-charts';
  const code = [
    `export { machineCatalogue } from ${JSON.stringify(join(root, 'cli/machineCatalogue.ts'))};`,
    `export { chartOf } from ${JSON.stringify(join(root, 'src/inspector/chart.ts'))};`,
  ].join('\n');
  const build = await rolldown({
    input: entry,
    platform: 'node',
    logLevel: 'warn',
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? { code, moduleType: 'js' } : undefined),
      },
    ],
  });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`);
}

const letter = { state: 7.6, label: 5.6 };
const lineHeight = 14;
const stateHeight = 36;
/** Lines of one arrow's label; what is left out is in its title. */
const mostLines = 3;

/** Names the place of what holds in every state. */
const anyState = '*';

const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '3',
  'elk.layered.spacing.nodeNodeBetweenLayers': '30',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
};

async function layOut(elk, chart) {
  const nodes = (parent) =>
    chart.states
      .filter((state) => state.parent === parent)
      .map((state) => {
        const children = nodes(state.id);
        const title = state.id.slice(state.id.lastIndexOf('.') + 1);
        return {
          id: `s ${state.id}`,
          width: Math.max(84, title.length * letter.state + 30),
          height: stateHeight,
          ...(isFirst(state, chart) && { layoutOptions: { 'elk.layered.layering.layerConstraint': 'FIRST' } }),
          ...(children.length > 0 && {
            children,
            layoutOptions: { 'elk.padding': '[top=30,left=12,bottom=12,right=12]' },
          }),
        };
      });
  const arrows = arrowsOf(chart);
  const hasAny = arrows.some(({ from }) => from === anyState);
  const any = { id: `s ${anyState}`, width: 84, height: 28 };
  const placed = await elk.layout({
    id: 'root',
    layoutOptions: options,
    children: [...(hasAny ? [any] : []), ...nodes('')],
    edges: arrows.map(({ from, to, lines }, index) => ({
      id: `e ${index}`,
      sources: [`s ${from}`],
      targets: [`s ${to}`],
      labels: [
        {
          text: lines.join('\n'),
          width: Math.max(...lines.map((line) => line.length)) * letter.label + 6,
          height: lines.length * lineHeight,
        },
      ],
    })),
  });
  return {
    width: Math.ceil(placed.width),
    height: Math.ceil(placed.height),
    states: placed.children.flatMap((node) => statesOf(node, chart)),
    arrows: placed.edges.map((edge, index) => arrowOf(edge, arrows[index])),
    transitions: chart.transitions,
  };
}

/** Whether a machine begins there. */
function isFirst({ id, parent }, { states }) {
  return parent === '' && states.find((state) => state.id === '')?.initial === id;
}

/** One arrow for all transitions from one state to another. What does not leave its state is no arrow. */
function arrowsOf({ transitions }) {
  const arrows = new Map();
  for (const { from, to, on, guard } of transitions) {
    if (to === undefined || to === from) continue;
    const source = from === '' ? anyState : from;
    const key = JSON.stringify([source, to]);
    const arrow = arrows.get(key) ?? { from: source, to, all: [] };
    arrow.all.push(`${on === '' ? 'always' : on}${guard === undefined ? '' : ` [${guard}]`}`);
    arrows.set(key, arrow);
  }
  return [...arrows.values()].map(({ from, to, all }) => {
    const texts = [...new Set(all)];
    const lines =
      texts.length > mostLines ? [...texts.slice(0, mostLines - 1), `and ${texts.length - mostLines + 1} more`] : texts;
    return { from, to, lines, title: texts.join(', ') };
  });
}

function statesOf({ id, x, y, width, height, children = [] }, chart) {
  const name = id.slice(2);
  const state = chart.states.find((each) => each.id === name);
  const initial = chart.states.find((each) => each.id === state?.parent)?.initial;
  return [
    {
      id: name,
      title: name === anyState ? 'any state' : name.slice(name.lastIndexOf('.') + 1),
      type: state?.type ?? 'any',
      ...(initial === name && { initial: true }),
      deeds: state === undefined ? [] : deedsOf(state),
      ...rounded({ x, y, width, height }),
    },
    ...children.flatMap((child) => statesOf(child, chart)),
  ];
}

/** Does at its borders and while it lasts. */
function deedsOf({ entry, exit, invokes }) {
  return [
    ...entry.map((action) => `entry / ${action}`),
    ...invokes.map((slot) => `invokes ${slot}`),
    ...exit.map((action) => `exit / ${action}`),
  ];
}

function arrowOf({ sections = [], labels: [label] }, { from, to, lines, title }) {
  const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint]);
  const path = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${Math.round(x)} ${Math.round(y)}`).join('');
  const { x, y, width } = label;
  return { from, to, lines, title, path, ...rounded({ x: x + width / 2, y: y + lineHeight - 3 }) };
}

const rounded = (place) => Object.fromEntries(Object.entries(place).map(([name, value]) => [name, Math.round(value)]));
