import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventRow } from '../../store/events.ts';
import { get } from './api.ts';
import { Empty } from './empty.tsx';
import { Glyph } from './glyph.tsx';
import { isStale, paused, tables } from './live.ts';
import { href, narrow, route } from './route.ts';
import { Ago } from './times.tsx';
import { count } from './words.ts';

const categories = [
  'integration',
  'breaker',
  'operator',
  'session',
  'child',
  'supervisor',
  'alert',
  'mcp',
  'workflow',
  'hook',
  'approval',
  'listener',
  'store',
  'control',
  'host',
  'config',
];
const mostShown = 1000;
const everyMs = 1000;

/** What was recorded, the newest first; new events wait behind a button once the reader has scrolled. */
export function Events() {
  const { query } = route.value;
  const [category, integration, find] = ['category', 'integration', 'find'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const failed = query.get('failed') === '1';
  const asked = new URLSearchParams({
    ...(category && { category }),
    ...(integration && { integration }),
    ...(failed && { failed: '1' }),
  });
  const { events, waiting, show, error } = useEvents(String(asked));
  const shown = events.filter((event) => find === '' || textOf(event).includes(find.toLowerCase()));
  const isNarrow = category + integration + find !== '' || failed;
  return (
    <>
      <div class="head">
        <div>
          <h1 tabIndex={-1}>Events</h1>
          <p class="dim">
            {events.length >= mostShown ? `The newest ${count(mostShown)}` : count(shown.length)} shown, the newest
            first.
          </p>
        </div>
      </div>
      <section class="box" aria-label="Events">
        <div class="filters">
          <input
            type="search"
            aria-label="Find in the events"
            placeholder="Find in the events"
            value={find}
            onInput={({ currentTarget }) => narrow({ find: currentTarget.value })}
          />
          <select
            aria-label="Category"
            value={category}
            onChange={({ currentTarget }) => narrow({ category: currentTarget.value })}
          >
            <option value="">All categories</option>
            {categories.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
          <select
            aria-label="Integration"
            value={integration}
            onChange={({ currentTarget }) => narrow({ integration: currentTarget.value })}
          >
            <option value="">All integrations</option>
            {namesWith(integration).map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
          <label class="nw">
            <input
              type="checkbox"
              checked={failed}
              onChange={({ currentTarget }) => narrow({ failed: currentTarget.checked ? '1' : '' })}
            />{' '}
            only failures
          </label>
          {isNarrow && (
            <button
              type="button"
              class="btn ghost"
              onClick={() => narrow({ find: '', category: '', integration: '', failed: '' })}
            >
              Clear
            </button>
          )}
          {waiting > 0 && (
            <button type="button" class="btn pri end" onClick={show}>
              {count(waiting)} new
            </button>
          )}
        </div>
        {error !== '' && <p class="in bad">{error}</p>}
        {shown.length === 0 && error === '' ? (
          <Empty title={isNarrow ? 'No event matches' : 'No event is recorded yet'}>
            {isNarrow
              ? 'Clear the filters to see all of them.'
              : 'Failures, crashes, restarts and sessions of every gateway on the database are listed here.'}
          </Empty>
        ) : (
          <ol class="events">
            {shown.map((event) => (
              <Event key={event.id} {...event} />
            ))}
          </ol>
        )}
      </section>
    </>
  );
}

function namesWith(chosen: string): readonly string[] {
  const names = new Set(tables.integrations.all.value.map(({ key }) => key));
  if (chosen !== '') names.add(chosen);
  return [...names].sort();
}

interface Found {
  readonly events: readonly EventRow[];
  readonly error: string;
}

/** The newest events of a query, and those that come. */
function useEvents(query: string): Found & { readonly waiting: number; readonly show: () => void } {
  const [found, setFound] = useState<Found>({ events: [], error: '' });
  const [fresh, setFresh] = useState<readonly EventRow[]>([]);
  const freshest = useRef<readonly EventRow[]>([]);
  freshest.current = fresh;
  const show = (): void => {
    setFound(({ events }) => ({ events: [...freshest.current, ...events].slice(0, mostShown), error: '' }));
    setFresh([]);
    scrollTo(0, 0);
  };
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: number | undefined;
    setFresh([]);
    const look = async (): Promise<void> => {
      if (!paused.value && !isStale.value) {
        const after: string = last === undefined ? '' : `&after=${last}`;
        try {
          const events = (await get<EventRow[]>(`/api/events?${query}${after}`)).reverse();
          if (isOver) return;
          const isFirst = last === undefined;
          last = events[0]?.id ?? last ?? 0;
          if (isFirst) setFound({ events, error: '' });
          else if (events.length > 0 && scrollY < 40)
            setFound((before) => ({ events: [...events, ...before.events].slice(0, mostShown), error: '' }));
          else if (events.length > 0) setFresh((before) => [...events, ...before].slice(0, mostShown));
        } catch (error) {
          if (!isOver)
            setFound(({ events }) => ({ events, error: error instanceof Error ? error.message : String(error) }));
        }
      }
      if (!isOver) timer = setTimeout(() => void look(), everyMs);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [query]);
  return { ...found, waiting: fresh.length, show };
}

const texts = new WeakMap<object, string>();

/** What is searched of an event. */
function textOf({ category, type, metadata }: EventRow): string {
  let text = texts.get(metadata);
  if (text === undefined) {
    text = `${category}/${type} ${JSON.stringify(metadata)}`.toLowerCase();
    texts.set(metadata, text);
  }
  return text;
}

const bad = /fail|error|crash|quarantin|gave_up|lost|refused|degraded|uncaught|isolated/;
const warn = /opened|paused|watchdog|restart|dead_letter|raised|held|rate_limited/;

function Event({ at, category, type, metadata }: EventRow) {
  const [isOpen, setOpen] = useState(false);
  const tone = bad.test(type) ? 'bad' : warn.test(type) ? 'warn' : 'faint';
  const { integration, session, error, message, by, why } = metadata;
  const words = [error, message, typeof by === 'string' ? `by ${by}` : undefined, why].filter(
    (each) => typeof each === 'string',
  );
  return (
    <li data-row class="event">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <Ago at={at} />
          <span class={`st ${tone}`}>
            <Glyph name={tone === 'bad' ? 'cross' : tone === 'warn' ? 'warn' : 'idle'} />
            <bdi>
              {category}/{type}
            </bdi>
          </span>
          <bdi class="cut who">
            {[integration, session, metadata['child']].filter((each) => typeof each === 'string').join(' · ')}
          </bdi>
          <span class="cut mono dim">{words.join('; ')}</span>
        </summary>
        {isOpen && (
          <>
            <pre>{JSON.stringify(metadata, null, 2)}</pre>
            <p class="in acts">
              {typeof integration === 'string' && (
                <a class="btn" href={href('integrations', integration)}>
                  Open {integration}
                </a>
              )}
              {typeof session === 'string' && (
                <a class="btn" href={href('sessions', session)}>
                  Open {session}
                </a>
              )}
            </p>
          </>
        )}
      </details>
    </li>
  );
}
