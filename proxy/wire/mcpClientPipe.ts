import type { Readable, Writable } from 'node:stream';
import { createByteLines, GatheredLines, isOneLine } from '../../src/protocol/face.ts';
import { type McpId, idKey, memberSpan } from '../../src/protocol/mcp/face.ts';

interface McpClientPipeOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly maxLineBytes: number;
  /** The lines of one piece of input come between these two. @param isOne - it is one line: there is nothing to gather. */
  begin(isOne: boolean): void;
  end(): void;
  /** Receives one line, its end included. */
  line(line: Buffer): void;
  /** A line was too long; `head` are its first bytes. */
  tooLong(head: Buffer): void;
  /** Told once: the client will send nothing more. */
  ended(): void;
  /** The client does not read what is written (`true`), or reads again. */
  fullChanged(full: boolean): void;
}

/** The pipe of the client, which stays whatever becomes of the server. None of what it tells may throw. */
export type McpClientPipe = ReturnType<typeof startMcpClientPipe>;

/** Starts to read. */
export function startMcpClientPipe(options: McpClientPipeOptions) {
  const { input, output } = options;
  const reasons = new Set<string>();
  let full = false;
  let over = false;

  const gathered = new GatheredLines((piece) => {
    if (output.writable && !output.write(piece)) setFull(output.writableNeedDrain);
  });
  const lines = createByteLines({
    maxBytes: options.maxLineBytes,
    onLine: (line) => options.line(line),
    onTooLong: (head) => options.tooLong(head),
  });
  const push = (chunk: Buffer): void => {
    options.begin(isOneLine(chunk));
    lines.push(chunk);
    options.end();
  };
  const end = (): void => {
    if (over) return;
    over = true;
    options.begin(true);
    lines.end();
    options.end();
    options.ended();
  };
  const setFull = (now: boolean): void => {
    if (full === now) return;
    full = now;
    options.fullChanged(now);
  };
  const drained = (): void => setFull(false);

  input.on('data', push);
  for (const event of ['end', 'close', 'error']) input.on(event, end);
  output.on('drain', drained);
  // Nobody reads any more: there is nobody to wait for.
  for (const event of ['close', 'error']) output.on(event, drained);

  return {
    get isFull(): boolean {
      return full;
    },
    /** Bytes that were written and not read. */
    get unread(): number {
      return output.writableLength + gathered.bytes;
    },
    write: (line: string | Uint8Array) => gathered.write(line),
    /** Has the lines that are written until the returned function is called sent as one. */
    gather: (): (() => void) => gathered.gather(),
    /** Leaves the input where it is, until every reason that was given is taken back. */
    hold(reason: string): void {
      reasons.add(reason);
      input.pause();
    },
    release(reason: string): void {
      if (reasons.delete(reason) && reasons.size === 0 && !over) input.resume();
    },
    /** Resolves when the client has been handed all that was written, or reads no more. */
    flush(): Promise<void> {
      gathered.flush();
      return new Promise((resolve) => {
        if (!output.writable) resolve();
        else output.write('', () => resolve());
      });
    },
    stop(): void {
      over = true;
      input.off('data', push);
      input.pause();
    },
  };
}

/** The id in the first part of a message; null when it is not there, or not within the message itself. */
export function idIn(head: string): McpId | null {
  const span = memberSpan(head, 'id');
  if (span === undefined) return null;
  try {
    const id: unknown = JSON.parse(head.slice(span.start, span.end));
    return idKey(id) === undefined ? null : (id as McpId);
  } catch {
    return null;
  }
}
