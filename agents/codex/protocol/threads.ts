import { recordIn, textIn } from '../../../src/protocol/agentReport.ts';
import { readTurnError } from './notifications.ts';

/** A thread as a list has it. */
interface ThreadSummary {
  readonly id: string;
  readonly preview: string;
  readonly cwd: string | undefined;
  /** In ms since the epoch. */
  readonly updatedAt: number | undefined;
}

/** A thread as an answer about it alone has it. */
interface ThreadRecord {
  readonly id: string;
  readonly turns: readonly TurnRecord[];
}

/** A turn of its history. */
export interface TurnRecord {
  readonly id: string;
  readonly status: string;
  readonly error: string | undefined;
}

/** Reads a thread; undefined without an id. Never throws. */
export function readThread(value: unknown): ThreadRecord | undefined {
  const thread = recordIn(value);
  const id = textIn(thread?.['id']);
  if (thread === undefined || id === undefined) return undefined;
  const turns = Array.isArray(thread['turns']) ? (thread['turns'] as unknown[]) : [];
  return { id, turns: turns.flatMap((turn) => readTurn(turn) ?? []) };
}

/** Reads a page of threads. */
export function readThreadList(value: unknown): { threads: readonly ThreadSummary[]; nextCursor: string | undefined } {
  const page = recordIn(value);
  const data = Array.isArray(page?.['data']) ? (page['data'] as unknown[]) : [];
  return { threads: data.flatMap((each) => readSummary(each) ?? []), nextCursor: textIn(page?.['nextCursor']) };
}

/** The last turn of a history, when it was cut off before it was completed. */
export function brokenTurn(turns: readonly TurnRecord[]): string | undefined {
  const last = turns.at(-1);
  return last?.status === 'interrupted' || last?.status === 'inProgress' ? last.id : undefined;
}

function readSummary(value: unknown): ThreadSummary | undefined {
  const thread = recordIn(value);
  const id = textIn(thread?.['id']);
  if (thread === undefined || id === undefined) return undefined;
  const updated = thread['updatedAt'];
  return {
    id,
    preview: textIn(thread['preview']) ?? '',
    cwd: textIn(thread['cwd']),
    updatedAt: typeof updated === 'number' ? updated * 1000 : undefined,
  };
}

function readTurn(value: unknown): TurnRecord | undefined {
  const turn = recordIn(value);
  const id = textIn(turn?.['id']);
  if (id === undefined) return undefined;
  return { id, status: textIn(turn?.['status']) ?? 'unknown', error: readTurnError(turn?.['error'])?.message };
}
