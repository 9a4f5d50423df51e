import { deliveryNames } from '../policy/alerts.ts';
import { checkInteger, checkNumber } from '../policy/options/options.ts';
import { isAbout } from './eventSubjects.ts';

/** Query for events; what is left out does not narrow. */
export interface EventQuery {
  /** Wall time in ms since the epoch; events at it or later. */
  readonly since?: number | undefined;
  /** Wall time in ms since the epoch; events before it. */
  readonly until?: number | undefined;
  readonly category?: string | undefined;
  /** Its name, of which its children and processes are too; the id of one of them (`mcp:NAME`) for those alone. `NAME@PID`: of what this process has recorded. */
  readonly integration?: string | undefined;
  /** Session of the events, its supervision included. */
  readonly session?: string | undefined;
  /** Part of the type or the metadata, whether large letters (A to Z) or small. */
  readonly text?: string | undefined;
  /** Only what went wrong: failures, errors and crashes. */
  readonly failed?: boolean | undefined;
  /** Most events to give. At least 1. */
  readonly limit: number;
  /** Only events after the one with this id: the next `limit` of them, where without it the newest `limit` are given. */
  readonly after?: number | undefined;
  /** Only events before the one with this id: the newest `limit` of them. */
  readonly before?: number | undefined;
  /** Only the newest so many ids are looked at, from `before` down, which bounds the time it takes. At least 1. @defaultValue all */
  readonly among?: number | undefined;
}

/** An event as it is read back. */
export interface EventRow {
  /** Grows in the order of recording. */
  readonly id: number;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  readonly category: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Types that count as gone wrong, as `category/event_type`; see {@link wentWrong}. */
export const failureTypes: readonly string[] = [
  'integration/failure',
  'integration/crashed',
  'integration/restart_failed',
  'hook/error',
  'approval/failed',
  'host/uncaught',
  'mcp/tool_error',
  'mcp/calls_lost',
  'session/turn_failed',
  'session/tool_failed',
  'workflow/failed',
  'workflow/item_error',
  'session/watchdog_fired',
  'session/recovery_failed',
  'child/crashed',
  'child/quarantined',
  'supervisor/gave_up',
  'listener/failed',
  'gateway/died',
  'store/degraded',
  'store/log_lost',
  'alert/undelivered',
];

/** Senders of alerts: a delivery that is cancelled did not arrive, which nobody wanted. */
export const alertDeliveries: readonly string[] = Object.values(deliveryNames);

/**
 * Tells whether the event says that something went wrong: of a failure type, but not ended on request (other than an alert's delivery), and not a loss of no
 * call.
 */
export function wentWrong({ category, type, metadata }: Omit<EventRow, 'id' | 'at'>): boolean {
  if (!failureTypes.includes(`${category}/${type}`)) return false;
  const isAsked = metadata['kind'] === 'cancelled' && !alertDeliveries.includes(String(metadata['integration']));
  return !isAsked && !(type === 'calls_lost' && metadata['lost'] === 0);
}

/** @throws TypeError or RangeError that names the option and the value. */
export function checkQuery({ since, until, limit, after, before, among }: EventQuery): void {
  checkInteger('limit', limit);
  if (since !== undefined) checkNumber('since', since);
  if (until !== undefined) checkNumber('until', until);
  if (after !== undefined) checkInteger('after', after, 0);
  if (before !== undefined) checkInteger('before', before, 0);
  if (among !== undefined) checkInteger('among', among);
}

/** Tells whether the query accepts the event, for an engine without SQL. `after`, `before`, `limit` and `among` are the caller's. */
export function matches(event: EventRow, query: EventQuery): boolean {
  const { since, until, category, integration, session, text, failed = false } = query;
  return (
    (since === undefined || event.at >= since) &&
    (until === undefined || event.at < until) &&
    (category === undefined || event.category === category) &&
    (!failed || wentWrong(event)) &&
    (session === undefined || isOfSession(event, session)) &&
    (text === undefined ||
      lowered(`${event.category}/${event.type} ${JSON.stringify(event.metadata)}`).includes(searched(text))) &&
    (integration === undefined || isAbout(event.metadata, integration))
  );
}

function isOfSession({ metadata }: EventRow, session: string): boolean {
  return (
    metadata['session'] === session || metadata['session_key'] === session || metadata['child'] === childOf(session)
  );
}

/** The child of the supervision tree that a session is. */
export const childOf = (session: string): string => `session:${session}`;

/** As the text stands in JSON. */
export const searched = (text: string): string => lowered(JSON.stringify(text).slice(1, -1));

/** As SQLite does it: the letters A to Z alone. */
const lowered = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Metadata as an object; of text that is none, `{ text }`. */
export function parseMetadata(stored: unknown): Readonly<Record<string, unknown>> {
  const text = String(stored);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Below.
  }
  return { text };
}
