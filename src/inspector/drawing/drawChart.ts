import type { Chart, ChartTransition } from '../chart.ts';
import { type Box, anyState, boxesOf, lineHeight, place, rowText, titleHeight } from './boxes.ts';
import { columnsOf } from './columns.ts';
import { type Route, Router } from './routes.ts';

const boxGap = 26;
const margin = 6;
const cornerRadius = 5;

/**
 * A statechart as SVG: states are boxes, transitions are lines in them with an arrow to where they lead. What lives is told by the
 * reader: states carry `data-state`, transitions and their arrows `data-edge`, their places in the chart.
 */
export function drawChart(chart: Chart): string {
  const columns = columnsOf(boxesOf(chart));
  const router = new Router({ columns });
  const { above, below } = router.laneHeights;
  const heights = columns.map((column) => column.reduce((sum, { height }) => sum + height + boxGap, -boxGap));
  const tallest = Math.max(0, ...heights);
  const top = margin + above;
  const bottom = top + tallest;

  const channelLefts: number[] = [];
  let x = margin;
  columns.forEach((column, at) => {
    channelLefts.push(x);
    x += router.channelWidths[at] ?? 0;
    const width = Math.max(...column.map((box) => box.width));
    let y = top + (tallest - (heights[at] ?? 0)) / 2;
    for (const box of column) {
      place(box, x, y, width);
      y += box.height + boxGap;
    }
    x += width;
  });
  channelLefts.push(x);
  x += router.channelWidths[columns.length] ?? 0;

  const width = Math.ceil(x + margin);
  const height = Math.ceil(bottom + below + margin);
  const edges = router.routes(channelLefts, top, bottom).map((route) => edgeSvg(route, chart.transitions));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(`Statechart of ${chart.machine}`)}">`,
    `<defs>${marker('arrow')}${marker('arrow-taken')}</defs>`,
    `<g class="boxes">${columns.flat().map(boxSvg).join('')}</g>`,
    `<g class="edges">${edges.join('')}</g>`,
    '</svg>',
  ].join('');
}

function boxSvg(box: Box): string {
  const { id, title, type, isInitial, deeds, rows, inner, x, y, width, height } = box;
  const left = x + 10;
  const dot = isInitial ? `<circle class="initial" cx="${left + 4}" cy="${y + titleHeight / 2}" r="4"/>` : '';
  const state = id === anyState ? '' : ` data-state="${escaped(id)}"`;
  const outline =
    type === 'final'
      ? `<rect class="outline" x="${x + 3}" y="${y + 3}" width="${width - 6}" height="${height - 6}" rx="6"/>`
      : '';
  const titleText = `<text class="title" x="${left + (isInitial ? 14 : 0)}" y="${y + 18.5}">${escaped(title)}</text>`;
  const deedTexts = deeds.map(
    (deed, at) =>
      `<text class="deed" x="${left}" y="${y + titleHeight + (at + 0.5) * lineHeight + 4}">${escaped(deed)}</text>`,
  );
  return [
    `<g class="state ${type}"${state}>`,
    `<rect class="box" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`,
    outline,
    dot,
    titleText,
    ...deedTexts,
    ...rows.map((row) => rowSvg(row.edge, row.transition, row.y, box)),
    ...inner.map(boxSvg),
    '</g>',
  ].join('');
}

function rowSvg(edge: number, transition: ChartTransition, y: number, { x, width }: Box): string {
  const { event, guard } = rowText(transition);
  const effects = transition.actions.length === 0 ? '' : ` / ${transition.actions.join(', ')}`;
  const to = transition.to === undefined ? 'stays' : `→ ${transition.to}`;
  return [
    `<g class="row" data-edge="${edge}"><title>${escaped(`${event} ${guard} ${to}${effects}`)}</title>`,
    `<rect class="hit" x="${x + 3}" y="${y - lineHeight / 2}" width="${width - 6}" height="${lineHeight}" rx="4"/>`,
    `<text x="${x + 10}" y="${y + 4}">${escaped(event)}`,
    guard === '' ? '' : ` <tspan class="guard">${escaped(guard)}</tspan>`,
    '</text></g>',
  ].join('');
}

function edgeSvg({ edge, points }: Route, transitions: readonly ChartTransition[]): string {
  const { from = '', to = '' } = transitions[edge] ?? {};
  return `<path class="edge" data-edge="${edge}" data-from="${escaped(from)}" data-to="${escaped(to)}" d="${pathOf(points)}"/>`;
}

/** Straight lines with rounded corners. */
function pathOf(points: Route['points']): string {
  return points
    .map(([x, y], at) => {
      const before = points[at - 1];
      const after = points[at + 1];
      if (before === undefined) return `M${x} ${y}`;
      if (after === undefined) return `L${x} ${y}`;
      const [ax, ay] = towards([x, y], before);
      const [bx, by] = towards([x, y], after);
      return `L${ax} ${ay}Q${x} ${y} ${bx} ${by}`;
    })
    .join('');
}

function towards([x, y]: readonly [number, number], [toX, toY]: readonly [number, number]): readonly [number, number] {
  const length = Math.hypot(toX - x, toY - y);
  const step = length === 0 ? 0 : Math.min(cornerRadius, length / 2) / length;
  return [x + (toX - x) * step, y + (toY - y) * step];
}

function marker(id: string): string {
  return `<marker id="${id}" class="${id}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z"/></marker>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '');
}
