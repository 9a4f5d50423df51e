import type { FailureKind } from '../../src/index.ts';
import type { EventRow } from '../../src/store/face.ts';
import type { Fault } from './fault.ts';
import type { FaultName } from './faultNames.ts';
import type { MessageTally } from './messageLog.ts';
import { finalFailure, isRecord, type Observed } from './expectation.ts';

/** Result of one fault, as plain data. */
export interface FaultReport {
  readonly fault: FaultName;
  readonly ok: boolean;
  /** Parts that did not end as they should. */
  readonly problems: readonly string[];
  readonly got: {
    readonly status: 'ok' | 'error' | 'nothing';
    /** Kind of the final failure. */
    readonly kind?: FailureKind | undefined;
    /** True where a synthetic result stood for an answer that never came. */
    readonly synthetic: boolean;
    readonly retries: number;
    /** Error in one line; of a call that succeeded in the end, what was overcome. */
    readonly message?: string | undefined;
  };
  readonly elapsedMs: number;
  readonly next: {
    /** Heartbeats that the session took before its next message. */
    readonly heartbeats: number;
    readonly answered: boolean;
  };
  /** Records in the database, as `category/event_type`, the most telling first. */
  readonly recorded: readonly string[];
}

/** Result of a tour, as plain data. */
export interface TourReport {
  readonly ok: boolean;
  /** Ended early, on request. */
  readonly interrupted: boolean;
  readonly elapsedMs: number;
  readonly faults: readonly FaultReport[];
  readonly sessions: number;
  readonly messages: MessageTally;
  readonly processes: {
    readonly started: number;
    /** Pids that were alive when everything had been stopped. */
    readonly left: readonly number[];
  };
  readonly store: { readonly kind: string; readonly path: string };
  /** Problems of the tour as a whole. */
  readonly problems: readonly string[];
}

const owners = ['session', 'session_key', 'integration', 'hook_name', 'child', 'process'];

/** Tells whether a row of the database tells of the fault; other sessions have theirs at the same time. */
export function belongs({ metadata }: EventRow, { name, integration }: Fault, session: string): boolean {
  const names = [session, name, `hook:${name}`, integration, `mcp:${integration}`];
  return owners.some((owner) => {
    const value = metadata[owner];
    return typeof value === 'string' && (names.includes(value) || value.startsWith(`process:${integration}:`));
  });
}

/** @param heartbeats - that the session took before its next message. */
export function reportFault(
  fault: Fault,
  observed: Observed,
  heartbeats: number,
  problems: readonly string[],
): FaultReport {
  const { answer, elapsedMs, retries, wentOn, records } = observed;
  const result = answer.ok ? answer.value : undefined;
  const failure = finalFailure(observed);
  const hook = records.find((row) => isRecord(row, { type: 'hook/error' }));
  const types = (rows: readonly EventRow[]): string[] => rows.map((row) => `${row.category}/${row.type}`);
  const wanted = fault.expected.records.flatMap((each) => records.filter((row) => isRecord(row, each)));
  return {
    fault: fault.name,
    ok: problems.length === 0,
    problems,
    got: {
      status: result?.status ?? 'nothing',
      kind: failure?.kind,
      synthetic: result !== undefined && 'synthetic' in result,
      retries: result?.retries ?? 0,
      message: failure?.error ?? retries[0]?.message ?? textOf(hook?.metadata['error']) ?? fault.despite,
    },
    elapsedMs: Math.round(elapsedMs),
    next: { heartbeats, answered: wentOn },
    recorded: [...new Set([...types(wanted), ...types(records)])],
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
