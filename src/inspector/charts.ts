import { type AnyTransitionDefinition, createMachine } from 'xstate';
import { type ChartTransition, chartOf, transitionOf } from './chart.ts';
import { drawChart } from './drawing/drawChart.ts';

/** The chart of a machine, drawn. */
export interface DrawnChart {
  /** Tells it from those of other machines of this process. */
  readonly id: number;
  readonly svg: string;
  /** The place of a transition among those of the chart. */
  edgeOf(taken: AnyTransitionDefinition): number | undefined;
}

const drawn = new WeakMap<object, DrawnChart>();
let last = 0;

/** Draws a machine from its configuration, once. */
export function chartFor(config: object): DrawnChart {
  let chart = drawn.get(config);
  if (chart === undefined) {
    chart = draw(config);
    drawn.set(config, chart);
  }
  return chart;
}

function draw(config: object): DrawnChart {
  // Drawing the machine does not need what it does; and what runs may be hidden behind other logic.
  const chart = chartOf(createMachine(config));
  const places = new Map<string, number>();
  chart.transitions.forEach((transition, place) => {
    if (!places.has(keyOf(transition))) places.set(keyOf(transition), place);
  });
  last += 1;
  return { id: last, svg: drawChart(chart), edgeOf: (taken) => places.get(keyOf(transitionOf(taken))) };
}

function keyOf({ from, to, on, guard }: ChartTransition): string {
  return JSON.stringify([from, to, on, guard]);
}
