import { appendFile, chmod, rename, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '../../src/policy/face.ts';
import { type Logger, say } from '../../src/policy/text/face.ts';
import type { McpMessage } from '../../src/protocol/mcp/face.ts';

/** A log of what passes: one JSON object a line, never what is in a message. Nothing of it throws or rejects. */
export interface TrafficLog {
  /** A message passed. @param ms - of an answer, since its request. */
  passed(from: 'client' | 'server' | 'proxy', message: McpMessage, bytes: number): void;
  /** Something happened to the server. */
  note(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Resolves when what was written so far is on disk, or after a second: a disk that hangs holds nothing. */
  flush(): Promise<void>;
}

/** Above this, in bytes, the file is put aside as `.1`, in place of the last one: twice this is the most there is. */
const largestBytes = 10 * 1024 * 1024;
/** Most that waits for the disk, in bytes; what comes beyond is counted and left out. */
const mostWaiting = 1024 * 1024;
const flushLimitMs = 1000;

/** @param maxBytes - of the file before it is put aside. @defaultValue 10 MB */
export function createTrafficLog(
  file: string,
  clock: Clock,
  logger: Logger | undefined,
  maxBytes = largestBytes,
): TrafficLog {
  const path = resolve(file);
  const asked = new Map<string, { readonly method: string; readonly at: number }>();
  let waiting = '';
  let dropped = 0;
  let writing: Promise<void> | undefined;
  let prepared = false;
  let complained = false;

  const append = async (text: string): Promise<void> => {
    try {
      const size = await stat(path).then(
        (stats) => stats.size,
        () => 0,
      );
      if (size > 0 && size + text.length > maxBytes) await rename(path, `${path}.1`);
      await appendFile(path, text, { mode: 0o600 });
      // A file of before, or somebody's umask, may be readable by others.
      if (!prepared) await chmod(path, 0o600);
      prepared = true;
    } catch (error) {
      if (!complained) say(logger, 'warn', `${path} cannot be written, messages are not logged: ${String(error)}`);
      complained = true;
    }
  };

  const drain = async (): Promise<void> => {
    while (waiting !== '') {
      const text = waiting;
      waiting = '';
      await append(text);
    }
    writing = undefined;
  };

  const write = (fields: Readonly<Record<string, unknown>>): void => {
    if (complained) return;
    if (waiting.length > mostWaiting) {
      dropped++;
      return;
    }
    const time = new Date(clock.wallNow()).toISOString();
    waiting += `${JSON.stringify({ time, ...fields, ...(dropped > 0 && { dropped }) })}\n`;
    dropped = 0;
    // At the end of the turn: a thousand messages are one write.
    writing ??= new Promise<void>((done) => clock.nextTurn(() => void drain().then(done)));
  };

  const answered = (from: string, key: string | undefined): object => {
    const side = `${from === 'client' ? 'server' : 'client'} ${key}`;
    const before = asked.get(side);
    asked.delete(side);
    return before === undefined ? {} : { method: before.method, ms: Math.round(clock.now() - before.at) };
  };

  return {
    passed(from, message, bytes) {
      if (message.kind === 'request') {
        const { id, key, method, params } = message;
        const tool = method === 'tools/call' && typeof params['name'] === 'string' ? { tool: params['name'] } : {};
        if (asked.size < mostAsked) asked.set(`${from} ${key}`, { method, at: clock.now() });
        write({ from, kind: 'request', method, id, ...tool, bytes });
      } else if (message.kind === 'notification') {
        write({ from, kind: 'notification', method: message.method, bytes });
      } else if (message.kind === 'answer') {
        const { key, error } = message;
        const kind = error === undefined ? 'result' : 'error';
        write({ from, kind, id: key?.slice(1), ...answered(from === 'proxy' ? 'server' : from, key), bytes });
      }
    },
    note: (event, fields = {}) => write({ event, ...fields }),
    flush() {
      return new Promise((done) => {
        const timer = clock.setTimeout(done, flushLimitMs, { ref: true });
        void Promise.resolve(writing).then(() => {
          clock.clearTimeout(timer);
          done();
        });
      });
    },
  };
}

/** Requests whose time is measured; others are logged without. */
const mostAsked = 10_000;
