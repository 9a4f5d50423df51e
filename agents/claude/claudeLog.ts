import { constants } from 'node:fs';
import { appendFile, chmod, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../../src/actors/process/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { type Logger, say } from '../../src/policy/text/face.ts';

/** Line of `claude_invocations.jsonl`; times in seconds. */
export interface ClaudeLogLine {
  readonly attempt: number;
  /** Status of one attempt, or `exhausted` for the call as a whole when no attempt is left. */
  readonly status: 'success' | 'retry' | 'error' | 'exhausted';
  readonly error_type: string | null;
  /** The wait that follows; of an `exhausted` call, all its waits. */
  readonly wait_time: number;
  readonly response_time: number;
}

const claudeLogName = 'claude_invocations.jsonl';

/** Above this, in bytes, the file is put aside as `.1`, in place of the last one: twice this is the most there is. */
const largestLogBytes = 10 * 1024 * 1024;

const flushLimitMs = 1000;

const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;

/**
 * The log of calls. Nothing of it throws or rejects.
 * @param logger - hears, once, that the file cannot be written; Node's warnings without one, nobody with `false`.
 * @param maxBytes - of the file before it is put aside. @defaultValue 10 MB
 */
export function createClaudeLog(clock: Clock, logger: Logger | false | undefined, maxBytes = largestLogBytes) {
  let last: Promise<void> = Promise.resolve();
  const prepared = new Set<string>();
  let complained = false;

  const append = async (directory: string, prompt: string, line: object): Promise<void> => {
    const file = join(directory, claudeLogName);
    try {
      const { createHash } = await import('node:crypto');
      const prompt_hash = createHash('sha256').update(prompt).digest('hex');
      const text = `${JSON.stringify({ ...line, prompt_hash })}\n`;
      if (!prepared.has(directory)) makeDirectory(directory);
      const size = await stat(file).then(
        (stats) => stats.size,
        () => 0,
      );
      if (size > 0 && size + Buffer.byteLength(text) > maxBytes) await rename(file, `${file}.1`);
      // The directory may be that of a project of others: a link in it leads anywhere.
      await appendFile(file, text, { mode: 0o600, flag: O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW });
      // A file of an older version, or somebody's umask, may be readable by others.
      if (!prepared.has(directory)) await chmod(file, 0o600);
      prepared.add(directory);
    } catch (error) {
      prepared.delete(directory);
      if (complained) return;
      complained = true;
      complain(logger, `${file} cannot be written, calls of Claude are not logged: ${String(error)}`);
    }
  };

  return {
    write(directory: string, prompt: string, line: ClaudeLogLine): void {
      const timestamp = new Date(clock.wallNow()).toISOString();
      // Resolved now: the working directory may change before it is written.
      const place = resolve(directory);
      last = last.then(() => append(place, prompt, { timestamp, prompt_hash: undefined, ...line }));
    },
    /** Resolves when what was written so far is on disk, or after a second: a disk that hangs holds no call. */
    flush(): Promise<void> {
      return new Promise((done) => {
        const timer = clock.setTimeout(done, flushLimitMs, { ref: true });
        void last.then(() => {
          clock.clearTimeout(timer);
          done();
        });
      });
    },
  };
}

function complain(logger: Logger | false | undefined, message: string): void {
  if (logger === false) return;
  if (logger === undefined) process.emitWarning(message, 'ClaudeLogWarning');
  else say(logger, 'warn', message);
}
