import { signal } from '@preact/signals';
import type { ChartTransition as Transition } from '../../../src/inspector/face.ts';
import { charts } from './laidOut?charts';
import { type Column, Table } from './table.tsx';
import { count } from './words.ts';

type Chart = (typeof charts)[number];

const lineHeight = 14;

interface ChartProps {
  readonly chart: Chart;
  /** Number of those in a state now, by its id. */
  readonly lit: ReadonlyMap<string, number>;
  /** Transitions that were taken last. @defaultValue none */
  readonly taken?: readonly Transition[];
}

/** The arrow that a transition is drawn as. */
const arrowOf = ({ from, to }: Transition): string => `${from === '' ? '*' : from} ${to}`;

/** Arrow of the transition that the pointer is on. */
const near = signal('');

/** A statechart. Its places were found when the page was built; what lives changes classes and counts alone. */
export function StateChart({ chart, lit, taken = [] }: ChartProps) {
  const { name, width, height, states, arrows } = chart;
  const took = new Set(taken.map(arrowOf));
  const now = states.filter(({ id }) => lit.has(id)).map(({ id }) => `${count(lit.get(id) ?? 0)} in ${id}`);
  return (
    <div class="chart" role="region" aria-label={`Statechart of ${name}`} tabIndex={0}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        style={{ '--w': `${width}px`, '--h': `${height}px` }}
        role="img"
        aria-label={`${name}: ${now.length === 0 ? 'nobody is in a state of it' : now.join(', ')}`}
      >
        <defs>
          <marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" orient="auto">
            <path d="M0 .5 8 4 0 7.5z" />
          </marker>
        </defs>
        {states.map((state) => (
          <StateBox key={state.id} state={state} number={lit.get(state.id) ?? 0} />
        ))}
        {arrows.map(({ from, to, path }) => {
          const arrow = `${from} ${to}`;
          const mark = took.has(arrow) ? 'took' : near.value === arrow ? 'near' : '';
          return <path key={arrow} class={`arrow ${mark}`} data-arrow={arrow} d={path} marker-end="url(#head)" />;
        })}
        {arrows.map(({ from, to, lines, title, x, y }) => (
          <text key={`${from} ${to}`} class="on" y={y}>
            <title>{`${from === '*' ? 'any state' : from} to ${to}: ${title}`}</title>
            {lines.map((line, index) => (
              <tspan key={index} x={x} dy={index === 0 ? 0 : lineHeight}>
                {line}
              </tspan>
            ))}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** States that say that something is wrong, or not well yet. */
const tones: Readonly<Record<string, string>> = {
  ...{ open: 'bad', crashed: 'bad', failed: 'bad', declined: 'bad' },
  ...{ 'half-open': 'warn', backoff: 'warn', releasing: 'warn', overdue: 'warn', terminating: 'warn' },
};

function StateBox({ state, number }: { readonly state: Chart['states'][number]; readonly number: number }) {
  const { id, title, type, initial = false, deeds, x, y, width, height } = state;
  const isOuter = type === 'compound' || type === 'parallel';
  return (
    <g class={`box-of ${isOuter ? 'outer' : type} ${number > 0 ? `lit ${tones[title] ?? 'acc'}` : ''}`} data-state={id}>
      {deeds.length > 0 && <title>{deeds.join('\n')}</title>}
      <rect x={x} y={y} width={width} height={height} rx="8" />
      {type === 'final' && <rect class="in-of" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx="6" />}
      {initial && <circle cx={x + 10} cy={y + 10} r="3.5" />}
      <text x={x + width / 2} y={isOuter ? y + 19 : y + height / 2 + 4.5}>
        {title}
        {number > 1 && ` · ${count(number)}`}
      </text>
    </g>
  );
}

const keyOf = ({ from, to = '', on, guard = '' }: Transition): string => [from, to, on, guard].join('\n');

/** Every transition of a chart in words; those that were taken last stand out, and the pointer shows the arrow of one. */
export function Moves({ chart, taken = [] }: Omit<ChartProps, 'lit'>) {
  const took = new Set(taken.map(keyOf));
  return (
    <Table
      columns={columns}
      rows={chart.transitions}
      keyOf={(move) => chart.transitions.indexOf(move)}
      attributes={(move) => ({
        class: took.has(keyOf(move)) ? 'sel' : '',
        onMouseEnter() {
          near.value = arrowOf(move);
        },
        onMouseLeave() {
          near.value = '';
        },
      })}
    />
  );
}

const columns: readonly Column<Transition>[] = [
  { title: 'In', cell: ({ from }) => (from === '' ? 'any state' : from) },
  {
    title: 'On',
    look: 'mono',
    cell: ({ on, guard }) => (
      <>
        {on === '' ? 'always' : on}
        {guard !== undefined && <span class="dim"> [{guard}]</span>}
      </>
    ),
  },
  { title: 'Leads to', cell: ({ to }) => to ?? <span class="faint">stays</span> },
  { title: 'Does', look: 'mono dim wrap', cell: ({ actions }) => actions.join(', ') },
];
