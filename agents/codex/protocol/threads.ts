import { recordIn, textIn } from '../../../src/protocol/face.ts';
import { readTurnError } from './notifications.ts';

/** A turn as the thread's history has it. */
export interface CodexTurnRecord {
  readonly id: string;
  /** `completed`, `interrupted`, `failed`, `inProgress`, or what Codex comes up with. */
  readonly status: string;
  /** Error that went wrong, where one did. */
  readonly error: string | undefined;
}

/** A thread as the list of threads has it. */
export interface CodexThreadInfo {
  readonly id: string;
  /** Its first words. */
  readonly preview: string;
  readonly cwd: string | undefined;
  /** In ms since the epoch. */
  readonly updatedAt: number | undefined;
}

/** Page of the threads that Codex keeps. */
export interface CodexThreadList {
  readonly threads: readonly CodexThreadInfo[];
  /** Gets the next page; absent on the last one. */
  readonly nextCursor: string | undefined;
}

/** A thread as an answer about it alone has it. */
interface ThreadRecord {
  readonly id: string;
  readonly turns: readonly CodexTurnRecord[];
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
export function readThreadList(value: unknown): CodexThreadList {
  const page = recordIn(value);
  const data = Array.isArray(page?.['data']) ? (page['data'] as unknown[]) : [];
  return { threads: data.flatMap((each) => readSummary(each) ?? []), nextCursor: textIn(page?.['nextCursor']) };
}

/** The last turn of a history, when it was cut off before it was completed. */
export function brokenTurn(turns: readonly CodexTurnRecord[]): string | undefined {
  const last = turns.at(-1);
  return last?.status === 'interrupted' || last?.status === 'inProgress' ? last.id : undefined;
}

function readSummary(value: unknown): CodexThreadInfo | undefined {
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

function readTurn(value: unknown): CodexTurnRecord | undefined {
  const turn = recordIn(value);
  const id = textIn(turn?.['id']);
  if (id === undefined) return undefined;
  return { id, status: textIn(turn?.['status']) ?? 'unknown', error: readTurnError(turn?.['error'])?.message };
}
