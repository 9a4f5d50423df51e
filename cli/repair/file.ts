import { realpathSync, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { messageOf } from '../../src/policy/failures/face.ts';
import type { TranscriptFormat } from '../../transcript/detect.ts';
import type { TranscriptReport } from '../../transcript/findings.ts';
import { repairTranscript, type TranscriptRepair } from '../../transcript/repairTranscript.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type Draft, replaceFile, type Source, writeNew } from './replace.ts';
import { repairLog } from './sessionFile.ts';

/** Target of the result. */
type Target = 'nowhere' | 'in-place' | { readonly out: string };

/** Findings in a file, and their repair. */
export interface FileRepair extends TranscriptReport {
  readonly file: string;
  /** Undefined for plain messages without tools. */
  readonly format: TranscriptFormat | undefined;
  /** Unit that `at` of its findings counts. */
  readonly unit: 'line' | 'entry';
  /** The file that was written; undefined when none was. */
  readonly written?: string | undefined;
  /** The original, when it was repaired in place. */
  readonly backup?: string | undefined;
}

/**
 * Repairs a file. The result is written beside its place and put there whole; until then nothing is changed.
 * @throws {@link CommandError} that names the file when it cannot be done, {@link UsageError} when `out` is the file itself.
 */
export async function repairFile(
  file: string,
  target: Target,
  format: TranscriptFormat | undefined,
  signal: AbortSignal,
): Promise<FileRepair> {
  const before = checkedFile(file);
  if (typeof target === 'object') checkOut(target.out, before);
  // The file that a link names is repaired; the link stays one.
  const path = realpathSync(file);
  const handle = await orFail(`Cannot read ${file}`, open(path, 'r'));
  try {
    const source = { path: file, handle, size: before.size, signal };
    const draft = await orFail(`Cannot read ${file}`, draftOf(source, format));
    const { pieces: _pieces, ...report } = draft;
    const isUnchanged = (): void => {
      signal.throwIfAborted();
      if (!isSame(before, statSync(path, { throwIfNoEntry: false }))) {
        throw new CommandError(
          `${file} was changed while it was read; end what writes it and try again. Nothing was done.`,
        );
      }
    };
    isUnchanged();
    if (target === 'nowhere' || (target === 'in-place' && draft.repairs === 0)) return { file, ...report };
    if (target === 'in-place') {
      const backup = await orFail(`Cannot write ${file}`, replaceFile(path, draft.pieces(), before, isUnchanged));
      return { file, ...report, written: file, backup };
    }
    await orFail(`Cannot write ${target.out}`, writeNew(target.out, draft.pieces(), before.mode, isUnchanged));
    return { file, ...report, written: target.out };
  } catch (error) {
    if (signal.aborted) throw new CommandError(`Interrupted; ${file} was not changed.`, { cause: error });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Only one of the two fits a file; without a name the text tells. */
async function draftOf(source: Source, format: TranscriptFormat | undefined): Promise<Draft> {
  const start = Buffer.alloc(Math.min(source.size, 64 * 1024));
  await source.handle.read(start, 0, start.length, 0);
  if (start.includes(0)) throw new CommandError(`${source.path} is binary, not a transcript.`);
  const isArray = /^\uFEFF?\s*\[/.test(start.toString('utf8'));
  if (format !== undefined && format !== 'claude-code') return repairDocument(source, format);
  const log = isArray ? undefined : await repairLog(source, format);
  return log ?? repairDocument(source, format);
}

function checkedFile(file: string): Stats {
  const found = statOf(file, 'read');
  if (found === undefined) throw new CommandError(`There is no file ${file}.`);
  if (found.isDirectory()) throw new CommandError(`${file} is a directory; name one transcript in it.`);
  if (!found.isFile()) throw new CommandError(`${file} is not a regular file.`);
  if (found.size === 0) throw new CommandError(`${file} is empty.`);
  return found;
}

function checkOut(out: string, source: Stats): void {
  const found = statOf(out, 'write');
  if (found === undefined) return;
  if (found.ino === source.ino && found.dev === source.dev) {
    throw new UsageError('--out names FILE itself; leave it out to repair in place, with a backup');
  }
  throw new CommandError(`${out} exists already; nothing was written.`);
}

/** Undefined when there is no such file. */
function statOf(file: string, purpose: 'read' | 'write'): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw new CommandError(`Cannot ${purpose} ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function isSame(before: Stats, now: Stats | undefined): boolean {
  return now !== undefined && now.ino === before.ino && now.size === before.size && now.mtimeMs === before.mtimeMs;
}

async function orFail<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    // A system call that failed; anything else is a bug and keeps its stack.
    if (error instanceof Error && 'syscall' in error) {
      throw new CommandError(`${what}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** Largest JSON document, which is held in memory as a whole. */
const maxBytes = 256 * 1024 * 1024;

/** Repairs a file that is one JSON document. Its indentation stays. */
async function repairDocument(source: Source, format: TranscriptFormat | undefined): Promise<Draft> {
  const { path, size } = source;
  if (size > maxBytes) throw new CommandError(`${path} has ${size} bytes; JSON can be repaired up to ${maxBytes}.`);
  const bytes = Buffer.alloc(size);
  await source.handle.read(bytes, 0, size, 0);
  const text = decoded(path, bytes);
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const { history, ...report } = repaired(path, parsed(path, text.slice(mark.length)), format);
  const indent = /^\s*[[{]\r?\n([ \t]+)/.exec(text.slice(mark.length))?.[1] ?? '';
  return {
    ...report,
    unit: 'entry',
    async *pieces() {
      // Without a change it is copied byte for byte.
      if (report.repairs === 0) yield bytes;
      else yield `${mark}${JSON.stringify(history, null, indent)}${text.endsWith('\n') ? '\n' : ''}`;
    },
  };
}

function decoded(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandError(`${path} is not UTF-8 text.`, { cause: error });
  }
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = messageOf(error);
    throw new CommandError(`${path} is neither JSON nor a session of Claude Code: ${why}`, { cause: error });
  }
}

function repaired(path: string, history: unknown, format: TranscriptFormat | undefined): TranscriptRepair<unknown> {
  try {
    return repairTranscript(history, { format });
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const why = error.message.replaceAll('`format`', '--format').replaceAll('`history`', path);
    throw new CommandError(why, { cause: error });
  }
}
