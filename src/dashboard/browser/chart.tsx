import { charts } from './laidOut?charts';
import { count } from './words.ts';

type Chart = (typeof charts)[number];

const lineHeight = 14;

interface ChartProps {
  readonly chart: Chart;
  /** Number of those in a state now, by its id. */
  readonly lit: ReadonlyMap<string, number>;
}

/** A statechart. Its places were found when the page was built; what lives changes classes and counts alone. */
export function StateChart({ chart, lit }: ChartProps) {
  const { name, width, height, states, arrows } = chart;
  const now = states.filter(({ id }) => lit.has(id)).map(({ id }) => `${count(lit.get(id) ?? 0)} in ${id}`);
  return (
    <div class="chart" role="region" aria-label={`Statechart of ${name}`} tabIndex={0}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
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
        {arrows.map(({ from, to, path }) => (
          <path key={`${from} ${to}`} class="arrow" d={path} marker-end="url(#head)" />
        ))}
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
  const { id, title, type, initial = false, x, y, width, height } = state;
  const isOuter = type === 'compound' || type === 'parallel';
  return (
    <g class={`box-of ${isOuter ? 'outer' : type} ${number > 0 ? `lit ${tones[title] ?? 'acc'}` : ''}`} data-state={id}>
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
