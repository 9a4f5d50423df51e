import { type EventRow, wentWrong } from '../../src/store/events.ts';
import type { StoreReader } from '../../src/store/storeReader.ts';

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
const mostLooked = 20_000;
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
    reader.events({ ...around, before: id, among: mostLooked }),
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
