import { type EventQuery, type EventRow, wentWrong } from '../../src/store/face.ts';
import type { StoreReader } from '../../reader/storeReader.ts';

/** Some of the events that a search finds. */
export interface EventPage {
  /** Newest first. */
  readonly events: readonly EventRow[];
  /** The id of the newest event that was there: those after it are new. */
  readonly newest: number;
  /** Id to go on from for older ones; undefined when all was looked at. There may be one without any event found. */
  readonly older?: number | undefined;
}

/** Terms of a search, and its start. */
export type EventSearch = Omit<EventQuery, 'among'>;

/** Ids that are looked at for one page: a rare word costs the gateway's machine no more than that at a time. */
const mostLooked = 100_000;

/** Finds what is older than `before`, or what is newer than `after`; each event once, whatever is recorded meanwhile. */
export async function findEvents(
  reader: StoreReader,
  search: EventSearch,
  mostIds: number = mostLooked,
): Promise<EventPage> {
  const newest = await reader.lastEventId();
  if (search.after !== undefined) {
    const found = await reader.events(search);
    const last = found.at(-1)?.id ?? newest;
    return { events: [...found].reverse(), newest: found.length < search.limit ? Math.max(last, newest) : last };
  }
  const { before = newest + 1, limit } = search;
  const found = await reader.events({ ...search, before, among: mostIds });
  const looked = found.length < limit ? before - mostIds : (found[0]?.id ?? 0);
  const isAll = looked <= (await reader.firstEventId());
  return { events: [...found].reverse(), newest, ...(!isAll && { older: looked }) };
}

/** An event beside another, and how the record ties them together. */
export interface ChainLink extends EventRow {
  /** `cause`: the other names it. `call`, `turn`: of the same. `integration`, `session`: of the same, and near in time. */
  readonly tie: 'cause' | 'call' | 'turn' | 'integration' | 'session';
}

/** Events that led to one and that followed from it, as far as the record tells. Both oldest first. */
export interface EventChain {
  readonly before: readonly ChainLink[];
  readonly after: readonly ChainLink[];
}

/** Distance in ms that events may have that nothing but their integration or session ties together. */
const nearMs = 120_000;
/** Events that are looked at on each side. */
const mostBeside = 20_000;
const mostShown = 12;

/** Undefined where there is no event of the id. */
export async function chainOf(reader: StoreReader, id: number): Promise<EventChain | undefined> {
  const [event] = id < 1 ? [] : await reader.events({ after: id - 1, limit: 1 });
  if (event?.id !== id) return undefined;
  const { integration, session } = namesOf(event);
  const name = integration ?? session;
  if (name === undefined) return { before: [], after: [] };
  const around = { text: name, since: event.at - nearMs, until: event.at + nearMs, limit: 500 };
  const [earlier, later] = await Promise.all([
    reader.events({ ...around, before: id, among: mostBeside }),
    reader.events({ ...around, after: id }),
  ]);
  return {
    before: earlier.flatMap((each) => linkOf(each, event) ?? []).slice(-mostShown),
    after: later.flatMap((each) => linkOf(each, event) ?? []).slice(0, mostShown),
  };
}

function linkOf(each: EventRow, event: EventRow): ChainLink | undefined {
  const tie = tieOf(each, event);
  return tie === undefined ? undefined : { ...each, tie };
}

function tieOf(each: EventRow, event: EventRow): ChainLink['tie'] | undefined {
  const { call, turn } = each.metadata;
  if (namedCalls(event).includes(call) || namedCalls(each).includes(event.metadata['call'])) return 'cause';
  if (typeof call === 'string' && call === event.metadata['call']) return 'call';
  const [one, other] = [namesOf(each), namesOf(event)];
  if (one.session !== undefined && one.session === other.session) {
    if (typeof turn === 'number' && turn === event.metadata['turn']) return 'turn';
    if (matters(each)) return 'session';
  }
  return one.integration !== undefined && one.integration === other.integration && matters(each)
    ? 'integration'
    : undefined;
}

/** The calls whose failures an opened circuit names as its cause. */
function namedCalls({ metadata }: EventRow): readonly unknown[] {
  const { failures } = metadata;
  const calls = Array.isArray(failures) ? failures.map((each: { readonly call?: unknown } | null) => each?.call) : [];
  return calls.filter((call) => typeof call === 'string');
}

const telling = new Set(['breaker', 'operator', 'child', 'alert', 'process', 'supervisor']);

/** Tells whether it changes what others meet: a failure, or an act about one. */
function matters(event: EventRow): boolean {
  return wentWrong(event) || telling.has(event.category) || /restart|paused|held|taken_over/.test(event.type);
}

/** Reads its subjects: children of the supervision tree are called after it. */
function namesOf({ metadata }: EventRow): { readonly integration?: string; readonly session?: string } {
  const text = (name: string): string | undefined => {
    const value = metadata[name];
    return typeof value === 'string' ? value : undefined;
  };
  const [, kind, child] = /^(session|mcp|integration):(.*)$/s.exec(text('child') ?? '') ?? [];
  const integration = text('integration') ?? (kind === 'session' ? undefined : child);
  const session = text('session') ?? text('session_key') ?? (kind === 'session' ? child : undefined);
  return { ...(integration !== undefined && { integration }), ...(session !== undefined && { session }) };
}
