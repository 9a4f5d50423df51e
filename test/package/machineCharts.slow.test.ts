import { beforeAll, describe, expect, it } from 'vitest';
import { type LaidOutChart, layOutMachines } from '../../scripts/machineCharts.mjs';
import { chartOf } from '../../src/inspector/chart.ts';
import { machineCatalogue } from '../../cli/machineCatalogue.ts';

type Box = LaidOutChart['states'][number];

const isWithin = (a: Box, b: Box): boolean =>
  a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
const isApart = (a: Box, b: Box): boolean =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

/** The corners of an arrow. */
const cornersOf = (path: string): readonly { readonly x: number; readonly y: number }[] =>
  [...path.matchAll(/[ML](-?\d+) (-?\d+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));

/** The distance of a point from the border of a box, in px along one axis; places are whole px, so it may be one off. */
function fromBorder(box: Box | undefined, point: { readonly x: number; readonly y: number } | undefined): number {
  if (box === undefined || point === undefined) return Number.NaN;
  const across = [point.x - box.x, box.x + box.width - point.x];
  const down = [point.y - box.y, box.y + box.height - point.y];
  const outside = Math.max(0, ...[...across, ...down].map((each) => -each));
  return Math.max(outside, Math.min(...[...across, ...down].map((each) => Math.abs(each))));
}

describe.each(Object.entries(machineCatalogue))('the chart of %s as it is drawn', (name, { machine }) => {
  const { states, transitions } = chartOf(machine);
  let chart: LaidOutChart;
  beforeAll(async () => {
    const found = (await layOutMachines()).find((each) => each.name === name);
    if (found === undefined) throw new Error(`${name} is not drawn`);
    chart = found;
  });

  it('[O-6] has every state once, within what it is part of and apart from the others', () => {
    const ids = states.map(({ id }) => id).filter((id) => id !== '');
    expect(ids.length).toBeGreaterThan(1);
    expect(
      chart.states
        .map(({ id }) => id)
        .filter((id) => id !== '*')
        .sort(),
    ).toEqual(ids.sort());
    const wrong = chart.states.flatMap((one) =>
      chart.states
        .filter(
          (other) => other !== one && !(other.id.startsWith(`${one.id}.`) ? isWithin(other, one) : isApart(one, other)),
        )
        .filter((other) => !one.id.startsWith(`${other.id}.`))
        .map((other) => `${one.id} and ${other.id}`),
    );
    expect(wrong).toEqual([]);
  });

  it('[O-6] has an arrow wherever a transition leads to another state, from border to border', () => {
    const key = ({ from, to }: { readonly from: string; readonly to?: string | undefined }) =>
      `${from === '' ? '*' : from} to ${to}`;
    const wanted = new Set(transitions.filter(({ from, to }) => to !== undefined && to !== from).map(key));
    expect(chart.arrows.map(key).sort()).toEqual([...wanted].sort());
    const boxes = new Map(chart.states.map((state) => [state.id, state]));
    for (const arrow of chart.arrows) {
      const corners = cornersOf(arrow.path);
      expect(fromBorder(boxes.get(arrow.from), corners[0]), `the start of ${key(arrow)}`).toBeLessThanOrEqual(1);
      expect(fromBorder(boxes.get(arrow.to), corners.at(-1)), `the end of ${key(arrow)}`).toBeLessThanOrEqual(1);
    }
  });

  it('[O-6] stays within its borders', () => {
    const points = [
      ...chart.arrows.flatMap(({ path }) => cornersOf(path)),
      ...chart.states.flatMap(({ x, y, width, height }) => [
        { x, y },
        { x: x + width, y: y + height },
      ]),
    ];
    expect(points.filter(({ x, y }) => x < 0 || y < 0 || x > chart.width || y > chart.height)).toEqual([]);
  });
});
