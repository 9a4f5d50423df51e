import { formatDuration } from '../policy/duration.ts';
import type { EventRow } from '../store/events.ts';
import type { StoreReader, TurnRecord } from '../store/storeReader.ts';
import { counted } from './counted.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './timeText.ts';
import { wrapLines } from './wrap.ts';

/** The last turn of a session that is on record, with what is known of its failures. */
export interface LastTurn {
  readonly turn: TurnRecord;
  readonly failures: readonly EventRow[];
}

/** Failures of a session that are read, the newest. */
const mostFailures = 100;
/** Calls that are told. */
const mostTold = 5;

/** @param recorded - the id of the session as events have it. */
export async function lastTurnOf(
  reader: Pick<StoreReader, 'turns' | 'events'>,
  session: string,
  recorded: string,
): Promise<LastTurn | undefined> {
  const [turn] = await reader.turns(session, 1);
  if (turn === undefined) return undefined;
  const hasFailed = turn.error !== undefined || turn.calls.some(({ ok }) => ok === false);
  const query = { category: 'session', session: recorded, failed: true, limit: mostFailures };
  return { turn, failures: hasFailed ? await reader.events(query) : [] };
}

/** Describes the failures in the last turn of a session that does nothing now; empty where there are none. */
export function lastTurnText({ turn, failures }: LastTurn, now: number, width: number): string {
  const failed = turn.calls.filter(({ ok }) => ok === false);
  const { endedAt, error } = turn;
  if (endedAt === undefined || (failed.length === 0 && error === undefined)) return '';
  const outcome = error === undefined ? 'ended well' : `failed: ${sanitize(error)}`;
  const calls = failed.slice(-mostTold).map(({ call, integration, tool, startedAt, settledAt }) => {
    const event = failures.findLast(({ type, metadata }) => type === 'tool_failed' && metadata['call'] === call);
    const lasted = settledAt === undefined ? '' : `, after ${formatDuration(Math.max(0, settledAt - startedAt))}`;
    const { kind, error: said } = event?.metadata ?? {};
    const why = event === undefined ? '' : `: ${sanitize(String(kind))}: ${sanitize(String(said))}`;
    return `    ${sanitize(integration)} ${sanitize(tool)} (${sanitize(call)}) failed${lasted}${why}`;
  });
  const left = failed.length - calls.length;
  const head =
    failed.length === 0
      ? ''
      : `; of its ${counted(turn.calls.length, 'call')} ${failed.length} failed${left > 0 ? `, the last ${calls.length}` : ''}:`;
  return wrapLines([`  its last turn ${outcome} ${ago(endedAt, now)}${head}`, ...calls], width);
}
