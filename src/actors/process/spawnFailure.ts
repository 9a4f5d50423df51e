import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readString } from '../../policy/failures/errorChain.ts';
import type { FailureFacts, FailureKind } from '../../policy/failures/failure.ts';
import { show } from '../../policy/options/options.ts';

/** The system is short of something for now: the next attempt may succeed. */
const shortages = new Map([
  ['EAGAIN', 'the system allows no more processes for now'],
  ['EMFILE', 'too many files are open in this process'],
  ['ENFILE', 'too many files are open in the system'],
  ['ENOMEM', 'the system is out of memory'],
]);

/** Tells whether an error says so. */
export const isShortage = (error: unknown): boolean => shortageText(error) !== undefined;

/** Returns the resource that the system is short of by an error of it; undefined where it says no such thing. */
export function shortageText(error: unknown): string | undefined {
  const code = codeOf(error) ?? '';
  const shortage = shortages.get(code);
  return shortage === undefined ? undefined : `${shortage} (${code})`;
}

/**
 * Gives the facts of an error of starting a process, thrown or emitted. Looks at the file system to tell a missing command from a missing working directory,
 * which Node does not. Never throws.
 */
export function spawnFailure(
  thrown: unknown,
  { command, cwd }: { readonly command: string; readonly cwd?: string | undefined },
): FailureFacts {
  const code = codeOf(thrown);
  const error = withoutArguments(thrown, code);
  const shortage = shortageText(error);
  if (shortage !== undefined)
    // Ours, not the command's: its breaker does not count it (table 1).
    return {
      ...facts('transient', code, `Cannot start ${show(command)}: ${shortage}`, error),
      breaker: 'ignored',
    };
  return facts('spawn', code, `Cannot start ${show(command)}: ${explanation(code, command, cwd, error)}`, error);
}

/** The arguments may hold a prompt: execa tells them in its message and its stack, Node in a field of the error. */
function withoutArguments(error: unknown, code: string | undefined): unknown {
  if (!(error instanceof Error) || !('escapedCommand' in error || 'spawnargs' in error)) return error;
  const bare = new Error(readString(error, 'originalMessage') ?? error.message);
  return code === undefined ? bare : Object.assign(bare, { code });
}

function explanation(code: string | undefined, command: string, cwd: string | undefined, error: unknown): string {
  const obstacle = cwd === undefined ? undefined : directoryProblem(cwd);
  switch (code ?? '') {
    case 'ENOENT':
    case 'ENOTDIR':
      if (obstacle !== undefined) return `${obstacle} (${code})`;
      if (command.includes('/') && kindOf(command, cwd) !== undefined)
        return `the file is there, but the interpreter it names is not (${code})`;
      return `there is no such command${command.includes('/') ? '' : ' on the PATH'} (${code})`;
    case 'EACCES':
    case 'EPERM':
      if (obstacle === undefined && command.includes('/') && kindOf(command, cwd) === 'directory')
        return `it is a directory (${code})`;
      return `${obstacle ?? 'the file is not executable, or not ours to run'} (${code})`;
    case 'E2BIG':
      return 'arguments and environment together are too long (E2BIG)';
    default:
      return obstacle ?? (error instanceof Error ? error.message : show(error));
  }
}

function directoryProblem(cwd: string): string | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return `the working directory ${show(cwd)} is not a directory`;
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (problem) {
    return codeOf(problem) === 'EACCES'
      ? `the working directory ${show(cwd)} is not accessible`
      : `the working directory ${show(cwd)} does not exist`;
  }
}

/** Finds the kind of the path of a command, which is relative to the working directory of the child. */
function kindOf(command: string, cwd = '.'): 'directory' | 'file' | undefined {
  try {
    return statSync(resolve(cwd, command)).isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}

/** The errno name, also of an error that wraps it as its cause. */
function codeOf(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    at = 'cause' in at ? at.cause : undefined;
  }
  return undefined;
}

function facts(kind: FailureKind, code: string | undefined, message: string, cause?: unknown): FailureFacts {
  return { kind, message, outcome: 'not_started', code, cause };
}
