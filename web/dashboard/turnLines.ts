import type { EventRow } from '../../src/store/face.ts';
import type { CallRecord, TurnRecord } from '../../reader/storeReader.ts';

/** A tool call of a turn, as far as the record tells: of one that was not kept only its failure is known. */
export interface CallLine extends Omit<CallRecord, 'startedAt'> {
  readonly startedAt?: number | undefined;
  readonly failure?: { readonly kind: string; readonly message: string } | undefined;
}

/** A turn, as far as the record tells: of a session that is not kept, what was told of it. */
export interface TurnLine extends Omit<TurnRecord, 'calls' | 'postedAt' | 'deliveries'> {
  readonly postedAt?: number | undefined;
  readonly deliveries?: number | undefined;
  /** Target that the watchdog ended. */
  readonly watchdog?: string | undefined;
  readonly calls: readonly CallLine[];
}

/**
 * The turns of a session, newest first: what is kept of them, and what the events say of them.
 * @param events - of the session, oldest first.
 * @param most - turns that are told.
 */
export function turnLines(
  records: readonly TurnRecord[],
  events: readonly EventRow[],
  most: number,
): readonly TurnLine[] {
  const turns = new Map<number, TurnLine>(records.map((record) => [record.turn, record]));
  for (const event of events) {
    const turn = event.metadata['turn'];
    if (typeof turn !== 'number' || event.category !== 'session') continue;
    const next = after(turns.get(turn), turn, event);
    if (next !== undefined) turns.set(turn, next);
  }
  return [...turns.values()].sort((one, other) => other.turn - one.turn).slice(0, most);
}

/** The turn as it is after the event; undefined where the event tells nothing of it. */
function after(turn: TurnLine | undefined, number: number, { at, type, metadata }: EventRow): TurnLine | undefined {
  const text = (name: string): string => (typeof metadata[name] === 'string' ? metadata[name] : '');
  if (type === 'turn_started') {
    const { message, kind } = { message: text('message'), kind: text('kind') };
    return turn ?? { turn: number, message, kind, state: 'taken', takenAt: at, calls: [] };
  }
  if (turn === undefined) return undefined;
  switch (type) {
    case 'turn_ended': {
      if (turn.endedAt !== undefined) return turn;
      const state = metadata['ok'] === true ? 'done' : 'failed';
      return { ...turn, state, endedAt: at, ...(state === 'failed' && { error: text('error') }) };
    }
    case 'tool_failed':
      return { ...turn, calls: withFailure(turn.calls, at, metadata, text) };
    case 'watchdog_fired':
      return { ...turn, watchdog: text('tool') || 'the turn' };
    default:
      return undefined;
  }
}

function withFailure(
  calls: readonly CallLine[],
  at: number,
  metadata: EventRow['metadata'],
  text: (name: string) => string,
): readonly CallLine[] {
  const call = text('call');
  const failure = { kind: text('kind'), message: text('error') };
  if (calls.some((each) => each.call === call)) {
    return calls.map((each) => (each.call === call ? { ...each, failure } : each));
  }
  const attempts = Number(metadata['retries'] ?? 0) + 1;
  const synthetic = metadata['synthetic'] === true;
  const named = { call, integration: text('integration'), tool: text('tool') };
  return [...calls, { ...named, settledAt: at, ok: false, synthetic, attempts, failure }];
}
