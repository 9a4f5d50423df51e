import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { machineCatalogue } from '../../../src/machines/catalogue.ts';
import { integrationMachine } from '../../../src/machines/integration.ts';
import { type Chart, chartOf } from '../../../src/inspector/chart.ts';
import { drawChart } from '../../../src/inspector/drawing/drawChart.ts';

interface Rectangle {
  readonly state: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const numbers = (text: string): number[] =>
  text
    .split(/[ A-Z]/)
    .filter(Boolean)
    .map(Number);

/** The boxes of the states, as they are drawn. */
function boxesIn(svg: string): Rectangle[] {
  const pattern =
    /data-state="([^"]*)"><rect class="box" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g;
  return [...svg.matchAll(pattern)].map(([, state = '', ...sizes]) => {
    const [x = 0, y = 0, width = 0, height = 0] = sizes.map(Number);
    return { state, x, y, width, height };
  });
}

/** The corners of each arrow, by the place of its transition; rounded corners have three points. */
function arrowsIn(svg: string): Map<number, (readonly [x: number, y: number])[]> {
  const pattern = /<path class="edge" data-edge="(\d+)"[^>]* d="([^"]*)"/g;
  return new Map(
    [...svg.matchAll(pattern)].map(([, edge, path = '']) => {
      const flat = numbers(path);
      return [Number(edge), flat.flatMap((x, at) => (at % 2 === 0 ? [[x, flat[at + 1] ?? 0] as const] : []))];
    }),
  );
}

const outermostOf = (state: string): string => state.split('.', 1)[0] ?? '';

const overlaps = (a: Rectangle, b: Rectangle): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const isWithin = (a: Rectangle, b: Rectangle): boolean =>
  a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;

const charts: readonly (readonly [string, Chart])[] = Object.entries(machineCatalogue).map(([name, { machine }]) => [
  name,
  chartOf(machine),
]);

describe('the drawing of a chart', () => {
  it.each(charts)(
    '[O-6] has every state of %s once, apart from the others or within what it is part of',
    (_, chart) => {
      const boxes = boxesIn(drawChart(chart));
      const states = chart.states.map(({ id }) => id).filter((id) => id !== '');
      expect(boxes.map(({ state }) => state).sort()).toEqual(states.sort());
      const pairs = boxes.flatMap((one, at) => boxes.slice(at + 1).map((other) => [one, other] as const));
      const isPart = (one: Rectangle, other: Rectangle): boolean => other.state.startsWith(`${one.state}.`);
      const misplaced = pairs.filter(([one, other]) =>
        isPart(one, other) ? !isWithin(other, one) : overlaps(one, other),
      );
      expect(misplaced).toEqual([]);
    },
  );

  it.each(charts)(
    '[O-6] has every transition of %s as a line, and an arrow where it leads to another state',
    (_, chart) => {
      const svg = drawChart(chart);
      const rows = [...svg.matchAll(/<g class="row" data-edge="(\d+)">/g)].map(([, edge]) => Number(edge));
      expect(rows.sort((a, b) => a - b)).toEqual(chart.transitions.map((_transition, place) => place));
      const leading = chart.transitions.flatMap(({ from, to }, place) =>
        to === undefined || to === from ? [] : [place],
      );
      expect([...arrowsIn(svg).keys()].sort((a, b) => a - b)).toEqual(leading);
    },
  );

  it.each(charts)('[O-6] ends each arrow of %s at the border of the state it leads to', (_, chart) => {
    const svg = drawChart(chart);
    const boxes = new Map(boxesIn(svg).map((box) => [box.state, box]));
    for (const [edge, points] of arrowsIn(svg)) {
      const box = boxes.get(chart.transitions[edge]?.to ?? '');
      const [x = 0, y = 0] = points.at(-1) ?? [];
      const [fromX = 0] = points.at(-2) ?? [];
      expect(x === box?.x ? fromX < x : fromX > x).toBe(true);
      expect([box?.x, (box?.x ?? 0) + (box?.width ?? 0)]).toContain(x);
      expect(y).toBeGreaterThan(box?.y ?? Infinity);
      expect(y).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0));
    }
  });

  it.each(charts)('[O-6] leads no arrow of %s through a state', (_, chart) => {
    const svg = drawChart(chart);
    const outermost = boxesIn(svg).filter(({ state }) => !state.includes('.'));
    for (const [edge, points] of arrowsIn(svg)) {
      const { from = '', to = '' } = chart.transitions[edge] ?? {};
      for (const [at, [x, y]] of points.slice(1).entries()) {
        const [fromX = 0, fromY = 0] = points[at] ?? [];
        const size = { width: Math.abs(x - fromX), height: Math.abs(y - fromY) };
        const piece = { state: '', x: Math.min(x, fromX), y: Math.min(y, fromY), ...size };
        // It begins at a state and ends at one.
        const own = [...(at === 0 ? [from] : []), ...(at === points.length - 2 ? [to] : [])].map(outermostOf);
        const others = outermost.filter(({ state }) => !own.includes(state));
        expect(others.filter((box) => overlaps(piece, box))).toEqual([]);
      }
    }
  });

  it('[O-6] goes from left to right: idle, calling, open, half-open', () => {
    const x = new Map(boxesIn(drawChart(chartOf(integrationMachine))).map((box) => [box.state, box.x]));
    const places = ['idle', 'calling', 'open', 'half-open'].map((state) => x.get(state) ?? 0);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(new Set(places).size).toBe(4);
    expect(Math.min(...x.values())).toBe(places[0]);
  });

  it('[O-6] stays within its borders', () => {
    for (const [, chart] of charts) {
      const svg = drawChart(chart);
      const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
      const frame = { state: '', x: 0, y: 0, width: Number(width), height: Number(height) };
      for (const box of boxesIn(svg)) expect(isWithin(box, frame)).toBe(true);
      for (const points of arrowsIn(svg).values())
        for (const [x, y] of points) expect(isWithin({ state: '', x, y, width: 0, height: 0 }, frame)).toBe(true);
    }
  });

  it('[O-8] takes names for text, whatever is in them', () => {
    const machine = createMachine({
      id: '<i>',
      initial: '<b>&"',
      states: { '<b>&"': { on: { '<script>alert(1)</script>': 'there' } }, there: {} },
    });
    const svg = drawChart(chartOf(machine));
    expect(svg).toContain('data-state="&lt;b&gt;&amp;&quot;"');
    expect(svg).not.toMatch(/<(script|b|i)>/);
  });
});
