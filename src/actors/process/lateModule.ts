import { closeSync, openSync } from 'node:fs';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import { isShortage, shortageText, spawnFailure } from './spawnFailure.ts';

/** As many files as Node 20 has open at once while it loads one of our modules, and some more. */
const usualFiles = 16;
/** Later versions read a file again that could not be read before. */
const remembersFailures = Number.parseInt(process.versions.node, 10) < 22;

/**
 * A module that is loaded at its first use. Loading is not begun while this process is out of descriptors: Node 20 remembers that a file could
 * not be read, and never loads what needs it again.
 * @param files - how many files are open at once while it is loaded.
 * @returns gives the module; rejects with the error of the system, or why it cannot be loaded. Whoever asks next tries again.
 */
export function lateModule<T>(load: () => Promise<T>, files = usualFiles): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  const attempt = async (): Promise<T> => {
    if (remembersFailures) requireFreeFiles(files);
    return load();
  };
  return () => {
    const asked = (loaded ??= attempt());
    // Not within the attempt: it may fail before it is kept.
    asked.catch(() => {
      if (loaded === asked) loaded = undefined;
    });
    return asked;
  };
}

/** Gives the facts of a part of ours that could not be loaded: this process was short of something for a moment, or its start failed. */
export function loadFailure(message: string, error: unknown): FailureFacts {
  const failed: FailureFacts = {
    kind: 'crash',
    reason: 'startup_failed',
    message,
    outcome: 'not_started',
    cause: error,
  };
  if (!isShortage(error)) return failed;
  const { kind, code, breaker } = spawnFailure(error, { command: '' });
  return { ...failed, kind, code, breaker };
}

/** @throws the error of the system where this process may not open so many files more. */
function requireFreeFiles(count: number): void {
  const { devNull } = process.getBuiltinModule('node:os');
  const taken: number[] = [];
  try {
    while (taken.length < count) taken.push(openSync(devNull, 'r'));
  } catch (error) {
    // Not the file that was tried: it has nothing to do with what is loaded.
    if (!(error instanceof Error) || !('code' in error)) throw error;
    throw Object.assign(new Error(shortageText(error) ?? error.message), { code: error.code });
  } finally {
    for (const file of taken) closeSync(file);
  }
}
