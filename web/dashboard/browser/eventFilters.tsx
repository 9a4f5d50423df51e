import { useEffect, useRef, useState } from 'preact/hooks';
import { spans } from '../snapshot.ts';
import { now, tables } from './live.ts';
import { narrow, route } from './route.ts';

const categories = [
  ...['integration', 'breaker', 'operator', 'session', 'message', 'child', 'supervisor', 'process', 'alert', 'mcp'],
  ...['agent', 'codex', 'workflow', 'hook', 'approval', 'listener', 'store', 'control', 'runtime', 'host', 'config'],
];
const filters = ['text', 'category', 'integration', 'session', 'failed', 'time', 'from', 'to'] as const;
/** Names that are offered while one types. */
const mostOffered = 100;
const typingMs = 250;

/** Reads the filters from the address. */
export function eventQuery(): { readonly query: string; readonly isNarrow: boolean } {
  const { query } = route.value;
  const [text, category, integration, session, failed, time, from, to] = filters.map((name) => query.get(name) ?? '');
  const asked = new URLSearchParams();
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') asked.set(name, value);
  };
  for (const [name, value] of Object.entries({ text, category, integration, session, failed })) add(name, value);
  const span = (spans as Readonly<Record<string, number>>)[time ?? ''];
  // By the minute, so that the question stays the same from one look to the next.
  if (span !== undefined) add('since', String(Math.floor((now.peek() - span) / 60_000) * 60_000));
  if (time === 'between') {
    add('since', msOf(from));
    add('until', msOf(to));
  }
  return { query: String(asked), isNarrow: filters.some((name) => query.has(name)) };
}

function msOf(text = ''): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? '' : String(ms);
}

export function clearFilters(): void {
  narrow(Object.fromEntries(filters.map((name) => [name, ''])));
}

export function EventFilters() {
  const { query } = route.value;
  const value = (name: string): string => query.get(name) ?? '';
  const time = value('time');
  return (
    <>
      <Typed name="text" label="Find in all events" />
      <Choice name="category" label="Category" all="All categories" of={categories} />
      <Choice name="integration" label="Integration" all="All integrations" of={namesWith(value('integration'))} />
      <Typed name="session" label="Session" list="sessions" />
      <Sessions />
      <select aria-label="Time" value={time} onChange={({ currentTarget }) => narrow({ time: currentTarget.value })}>
        <option value="">Any time</option>
        {Object.keys(spans).map((each) => (
          <option key={each} value={each}>
            Last {each}
          </option>
        ))}
        <option value="between">Between …</option>
      </select>
      {time === 'between' &&
        (['from', 'to'] as const).map((name) => (
          <input
            key={name}
            type="datetime-local"
            aria-label={name === 'from' ? 'From' : 'Until'}
            value={value(name)}
            onChange={({ currentTarget }) => narrow({ [name]: currentTarget.value })}
          />
        ))}
      <label class="nw">
        <input
          type="checkbox"
          checked={value('failed') === '1'}
          onChange={({ currentTarget }) => narrow({ failed: currentTarget.checked ? '1' : '' })}
        />{' '}
        only failures
      </label>
    </>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly all: string;
  readonly of: readonly string[];
}

function Choice({ name, label, all, of }: ChoiceProps) {
  const value = route.value.query.get(name) ?? '';
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => narrow({ [name]: currentTarget.value })}>
      <option value="">{all}</option>
      {of.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

interface TypedProps {
  readonly name: string;
  readonly label: string;
  readonly list?: string;
}

/** A field that is searched for once its reader stops to type. */
function Typed({ name, label, list }: TypedProps) {
  const asked = route.value.query.get(name) ?? '';
  const [typed, setTyped] = useState(asked);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    setTyped(asked);
    return () => clearTimeout(timer.current);
  }, [asked]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      {...(list !== undefined && { list })}
      onInput={({ currentTarget: { value } }) => {
        setTyped(value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => narrow({ [name]: value.trim() }), typingMs);
      }}
    />
  );
}

function Sessions() {
  return (
    <datalist id="sessions">
      {tables.sessions.all.value.slice(0, mostOffered).map(({ key }) => (
        <option key={key} value={key} />
      ))}
    </datalist>
  );
}

function namesWith(chosen: string): readonly string[] {
  const names = new Set(tables.integrations.all.value.map(({ key }) => key));
  if (chosen !== '') names.add(chosen);
  return [...names].sort();
}
