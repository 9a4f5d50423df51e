import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { Bars } from './bars.tsx';
import { Moves, StateChart } from './chart.tsx';
import { Box } from './box.tsx';
import { Glyph, State } from './glyph.tsx';
import { charts } from './laidOut?charts';
import {
  actors,
  choose,
  chosen,
  drawn,
  type Happening,
  happenings,
  type Inspected,
  runtime,
  statesOf,
  stateText,
} from './inspected.ts';
import { Live, Theme } from './top.tsx';

/** Rows of the context that are shown. */
const mostRows = 40;

const filter = signal('');
const isOnlyChosen = signal(false);

/** Shows the machines of one gateway while they run: its actors, the chart of one with its live state, and every event. */
export function InspectPage() {
  const isBegun = drawn.value > 0;
  const actor = chosen();
  return (
    <>
      <header class="top">
        <h1 class="brand">
          <Glyph name="machines" />
          unwedge inspect
        </h1>
        <bdi class="cut mono dim">{runtime}</bdi>
        <span class="sp" />
        <Live />
        <Theme />
      </header>
      <main class="inspect" id="main">
        <Bars />
        <Actors of={actor} />
        <Stage of={actor} isBegun={isBegun} />
        <Happenings of={actor} />
        <Facts of={actor} />
      </main>
    </>
  );
}

interface OfActor {
  readonly of: Inspected | undefined;
}

function Actors({ of: current }: OfActor) {
  const below = new Map<string, Inspected[]>();
  for (const actor of actors.values()) {
    const parent = actor.parentId !== undefined && actors.has(actor.parentId) ? actor.parentId : '';
    below.set(parent, [...(below.get(parent) ?? []), actor]);
  }
  const listOf = (parent: string): VNode => (
    <ul>
      {(below.get(parent) ?? []).map((actor) => (
        <li key={actor.sessionId} class={actor.over ? 'over' : ''}>
          <button
            type="button"
            data-row
            aria-current={actor === current}
            title={actor.name}
            onClick={() => choose(actor.sessionId)}
          >
            <Named name={actor.name} />
            <State of={actor.over && actor.snapshot.status === 'active' ? 'gone' : stateText(actor.snapshot)} />
          </button>
          {below.has(actor.sessionId) && listOf(actor.sessionId)}
        </li>
      ))}
    </ul>
  );
  return (
    <section class="box actors" aria-label="Actors" onKeyDown={step}>
      <div class="sh">
        <h2>Actors</h2>
        <span class="faint">{[...actors.values()].filter(({ over }) => !over).length}</span>
      </div>
      {listOf('')}
    </section>
  );
}

/** The name of an actor, its kind apart. */
function Named({ name }: { readonly name: string }) {
  const [, kind = '', plain = name] = /^([a-z]+):(.+)$/s.exec(name) ?? [];
  return (
    <bdi class="cut">
      {kind !== '' && <small class="faint">{kind}</small>}
      {plain}
    </bdi>
  );
}

function step(event: KeyboardEvent): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll('button')];
  buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + by]?.focus();
}

function Stage({ of: actor, isBegun }: OfActor & { readonly isBegun: boolean }) {
  const chart = charts.find(({ name }) => name === actor?.chart);
  const text = actor === undefined ? '' : stateText(actor.snapshot);
  return (
    <Box
      label="Statechart"
      title={<bdi>{actor?.name ?? (isBegun ? 'No machine yet' : '')}</bdi>}
      look="stage"
      end={
        <>
          <span class="now" aria-live="polite">
            <State of={text} />
          </span>
          {actor !== undefined && text !== '' && <span class="faint end">since {timeText(actor.since)}</span>}
        </>
      }
    >
      {chart !== undefined && actor !== undefined ? (
        <>
          <StateChart
            chart={chart}
            lit={new Map(statesOf(actor.snapshot.value).map((id) => [id, 1]))}
            taken={actor.taken}
          />
          <Moves chart={chart} taken={actor.taken} />
        </>
      ) : (
        actor !== undefined && (
          <p class="in dim">
            {actor.chart === undefined
              ? 'A supervisor: it starts the actors below it, and restarts them.'
              : 'This version has no chart of its machine.'}
          </p>
        )
      )}
    </Box>
  );
}

function Facts({ of: actor }: OfActor) {
  const last = actor?.last;
  const { context, output, error } = actor?.snapshot ?? {};
  const rows = Object.entries({ ...flat(context), ...flat(output, 'output.'), ...flat(error, 'error.') });
  return (
    <section class="box facts-of" aria-label="The actor's last transition and context">
      <h3>Last transition</h3>
      <p class="mono wrap last">
        {last === undefined ? (
          'none since this page is open'
        ) : (
          <>
            <span class="taken">{last.on}</span> <br />
            {last.before} → {last.after}
          </>
        )}
      </p>
      <h3>Context</h3>
      <dl class="facts mono">
        {rows.slice(0, mostRows).map(([name, value]) => (
          <div key={name}>
            <dt class="dim wrap">{name}</dt>
            <dd class="wrap">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The leaves of a value, by their paths. */
function flat(value: unknown, above = ''): Readonly<Record<string, string>> {
  const name = above.slice(0, -1) || 'value';
  if (value === undefined) return {};
  if (typeof value === 'number') return { [name]: String(Math.round(value * 1000) / 1000) };
  if (Array.isArray(value)) return { [name]: JSON.stringify(value) };
  if (typeof value !== 'object' || value === null) return { [name]: String(value as string | boolean | null) };
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => Object.entries(flat(each, `${above}${key}.`))),
  );
}

function Happenings({ of: actor }: OfActor) {
  const words = filter.value.trim().toLowerCase();
  const isShown = (each: Happening): boolean =>
    each.actor === undefined ||
    (`${each.actor.name} ${each.text} ${each.change.value}`.toLowerCase().includes(words) &&
      (!isOnlyChosen.value || each.actor.sessionId === actor?.sessionId));
  return (
    <section class="box log" aria-label="Events">
      <div class="filters" role="search">
        <h2>Events</h2>
        <input
          type="search"
          id="find"
          placeholder="Filter by actor, event or state"
          aria-label="Filter events by actor, event or state"
          spellcheck={false}
          value={filter.value}
          onInput={({ currentTarget: { value } }) => {
            filter.value = value;
          }}
        />
        <label class="nw">
          <input
            type="checkbox"
            checked={isOnlyChosen.value}
            onChange={({ currentTarget: { checked } }) => {
              isOnlyChosen.value = checked;
            }}
          />{' '}
          this actor
        </label>
      </div>
      {happenings.value.length === 0 && <p class="in dim">Nothing has happened since this page is open.</p>}
      <ol class="events">{happenings.value.filter(isShown).map(lineOf)}</ol>
    </section>
  );
}

const lines = new WeakMap<Happening, VNode>();

/** Makes the line of an event once: of a thousand of them only what changes is drawn again. */
function lineOf(of: Happening): VNode {
  const line = lines.get(of) ?? <Line key={of.key} of={of} />;
  lines.set(of, line);
  return line;
}

function Line({ of: { text, actor, from, event, at = 0, change } }: { readonly of: Happening }) {
  if (actor === undefined) return <li class="event in warn">{text}</li>;
  return (
    <li class="event">
      <details>
        <summary>
          <time class="mono faint">{timeText(at)}</time>
          <span class="cut mono" title={text}>
            {text}
          </span>
          <bdi class="cut who dim" title={actor.name}>
            {plainName(actor)}
            {from !== undefined && ` from ${plainName(from)}`}
          </bdi>
          <span class="cut taken">{change}</span>
        </summary>
        <pre>{JSON.stringify(event, null, 2)}</pre>
      </details>
    </li>
  );
}

/** The name of an actor without its kind. */
function plainName({ name }: Inspected): string {
  return name.replace(/^[a-z]+:/, '');
}

/** A time of day, to the ms. */
function timeText(ms: number): string {
  const time = new Date(ms);
  return `${time.toLocaleTimeString('en-GB')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
