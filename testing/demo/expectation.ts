import type { FailureKind, ToolResult } from '../../src/index.ts';
import type { EventRow } from '../../src/store/face.ts';
import { type Expected, type ExpectedRecord, usualMostMs } from './fault.ts';

/** Answer to a message to the session. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** An attempt that failed and was followed by another. */
export interface Retry {
  readonly message: string;
  /** The wait before the next one, in ms; `null`: for the restart of the integration. */
  readonly delayMs: number | null;
}

/** Result of one fault. */
export interface Observed {
  /** The integration that was called. */
  readonly integration: string;
  /** Answer that the caller got, or why it got nothing. */
  readonly answer: Answer<ToolResult>;
  readonly elapsedMs: number;
  readonly retries: readonly Retry[];
  /** True where the session answered its next message. */
  readonly wentOn: boolean;
  /** Records of it in the database, oldest first. */
  readonly records: readonly EventRow[];
}

/** Timers may be early by their own rounding. */
const roundingMs = 5;

/** Lists the differences from what was expected, in plain words; empty when all is well. */
export function differences(expected: Expected, observed: Observed): string[] {
  return [
    ...judgeResult(expected, observed),
    ...judgeTime(expected, observed),
    ...(observed.wentOn ? [] : ['the session did not answer its next message']),
    ...judgeRecords(expected, observed),
  ];
}

/** The final failure of the call, as it is in the database. */
export function finalFailure(observed: Observed): { readonly kind: FailureKind; readonly error: string } | undefined {
  return finalFailures(observed)[0]?.metadata as { kind: FailureKind; error: string } | undefined;
}

/** Tells whether a row is the one that is looked for. */
export function isRecord(row: EventRow, { type, fields = {} }: ExpectedRecord): boolean {
  return (
    `${row.category}/${row.type}` === type &&
    Object.entries(fields).every(([name, value]) => row.metadata[name] === value)
  );
}

function finalFailures({ integration, records }: Observed): EventRow[] {
  return records.filter((row) => isRecord(row, { type: 'integration/failure', fields: { integration } }));
}

function* judgeResult(expected: Expected, observed: Observed): Generator<string> {
  const { answer, retries } = observed;
  if (!answer.ok) {
    yield answer.why;
    return;
  }
  const { value: result } = answer;
  const kind = result.status === 'ok' ? 'ok' : (finalFailure(observed)?.kind ?? 'a failure without a record');
  if (kind !== expected.outcome) {
    const detail = result.status === 'ok' ? '' : ` (${result.error})`;
    yield `expected ${expected.outcome}, got ${kind}${detail}`;
  }
  const synthetic = 'synthetic' in result;
  if (synthetic !== (expected.synthetic ?? false)) {
    yield synthetic ? 'the result is synthetic' : 'the result is not synthetic';
  }
  const [least, most] = expected.retries;
  if (result.retries < least || result.retries > most) {
    yield `expected ${least === most ? least : `${least} to ${most}`} retries, got ${result.retries}`;
  }
  const waitsMs = retries.map(({ delayMs }) => delayMs);
  if (expected.waitsMs !== undefined && String(expected.waitsMs) !== String(waitsMs)) {
    yield `expected waits of ${expected.waitsMs.join(', ')} ms, got ${waitsMs.join(', ') || 'none'}`;
  }
  const first = retries[0]?.message ?? 'nothing';
  if (expected.cause !== undefined && !first.includes(expected.cause)) {
    yield `expected a retry after "${expected.cause}", got one after "${first}"`;
  }
}

function* judgeTime({ leastMs = 0, mostMs = usualMostMs }: Expected, { elapsedMs }: Observed): Generator<string> {
  if (elapsedMs < leastMs - roundingMs) yield `it took ${Math.round(elapsedMs)} ms; at least ${leastMs} were expected`;
  if (elapsedMs > mostMs) yield `it took ${Math.round(elapsedMs)} ms; at most ${mostMs} were expected`;
}

function* judgeRecords(expected: Expected, observed: Observed): Generator<string> {
  for (const wanted of expected.records) {
    if (!observed.records.some((row) => isRecord(row, wanted))) yield `not in the database: ${show(wanted)}`;
  }
  // The store gets final results only: one for a call that failed, none for one that succeeded in the end.
  const finals = finalFailures(observed).length;
  const wanted = expected.outcome === 'ok' ? 0 : 1;
  if (finals !== wanted) yield `expected ${wanted} final failures in the database, found ${finals}`;
}

function show({ type, fields = {} }: ExpectedRecord): string {
  return [type, ...Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)].join(' ');
}
