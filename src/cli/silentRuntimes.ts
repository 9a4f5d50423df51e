import { readStatusAnswer } from '../control/answers.ts';
import { askRuntimes } from '../runtime/askRuntimes.ts';
import type { RuntimeRow } from '../store/runtimes.ts';
import { attentionText, type Matter, mattersOfRuntimes } from './attention.ts';
import type { Io } from './io.ts';
import { createStyle } from './style.ts';

/** Which of the runtimes of a database are gone or stand still: what is on record may be old. Takes up to 2 s; never rejects. */
export async function silentRuntimes(rows: readonly RuntimeRow[], io: Io): Promise<readonly Matter[]> {
  return mattersOfRuntimes(await askRuntimes(rows, io, 'status', readStatusAnswer), io.now());
}

/** The same, to lead what is shown from the database; empty where all answer. */
export function silenceText(matters: readonly Matter[], io: Io): string {
  const text = attentionText(matters, { width: io.columns, style: createStyle(io) });
  return text === '' ? '' : `${text}\n`;
}
