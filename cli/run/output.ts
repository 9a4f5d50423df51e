import type { OutputStream } from '../../src/machines/face.ts';
import { closeSync, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/policy/failures/face.ts';

/** Sink for the output of a child. */
export interface Sink {
  /** Takes bytes as they are. A promise says when it can take more; while it is pending the child is to wait. Never throws. */
  write(chunk: Uint8Array, stream: OutputStream): Promise<void> | undefined;
}

/** Our own stdout and stderr. */
interface Streams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/** The streams of this process as a sink, and as the place of our own words. */
export interface OwnOutput extends Sink {
  /** A line of ours without its secrets, on stderr and on a line of its own. */
  say(line: string): void;
  /** Why not everything could be written; undefined when it was, or nobody reads any more. */
  readonly trouble: string | undefined;
}

const newline = 0x0a;

/**
 * Bytes pass as they are. A stream whose reader is gone takes everything and says nothing.
 * @param hide - takes secrets out of our own words, which may quote the child.
 */
export function ownOutput(streams: Streams, hide: (text: string) => string): OwnOutput {
  let midLine = false;
  let trouble: string | undefined;
  for (const stream of [streams.stdout, streams.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') trouble ??= error.message;
    });
  }
  return {
    write(chunk, stream) {
      const target = streams[stream];
      if (stream === 'stderr' && chunk.length > 0) midLine = chunk.at(-1) !== newline;
      if (!target.writable || target.write(chunk)) return undefined;
      return untilWritable(target);
    },
    say(line) {
      if (streams.stderr.writable) streams.stderr.write(`${midLine ? '\n' : ''}unwedge: ${hide(line)}\n`);
      midLine = false;
    },
    get trouble() {
      return trouble;
    },
  };
}

/** Settles also when the reader is gone: nobody waits for it then. */
function untilWritable(target: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of ends) target.off(event, done);
      resolve();
    };
    for (const event of ends) target.on(event, done);
  });
}

const ends = ['drain', 'error', 'close', 'finish'] as const;

/** Bytes of both streams that are held in memory; beyond, all goes to a file. */
const memoryBytes = 1_048_576;
/** Bytes of one read from the file. */
const pieceBytes = 65_536;

/** The output of an attempt, held back until it is known whether there will be another. */
export interface HeldOutput extends Sink {
  /** Passes on what was held, in the order it came, and holds no more. Waits for a slow reader. */
  release(sink: Sink): Promise<void>;
  /** Forgets what was held. More calls do nothing. */
  discard(): void;
  /** Why not everything could be held; undefined when it was. */
  readonly trouble: string | undefined;
}

interface Piece {
  readonly stream: OutputStream;
  bytes: number;
}

/**
 * Holds up to 1 MB in memory and more in a file that has no name any more: nobody else can open it, and nothing is left of it
 * however this process ends.
 */
export function holdOutput(): HeldOutput {
  let chunks: { readonly stream: OutputStream; readonly chunk: Uint8Array }[] = [];
  /** Pieces that the file holds, in order; neighbours of one stream are one. */
  let pieces: Piece[] = [];
  let held = 0;
  let file: number | undefined;
  let trouble: string | undefined;

  function spool(chunk: Uint8Array, stream: OutputStream): void {
    file ??= openNameless();
    for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
    const last = pieces.at(-1);
    if (last?.stream === stream) last.bytes += chunk.length;
    else pieces.push({ stream, bytes: chunk.length });
  }

  function write(chunk: Uint8Array, stream: OutputStream): undefined {
    if (trouble !== undefined) return;
    held += chunk.length;
    chunks.push({ stream, chunk });
    if (held <= memoryBytes) return;
    try {
      for (const each of chunks.splice(0)) spool(each.chunk, each.stream);
    } catch (error) {
      trouble = messageOf(error);
    }
  }

  function discard(): void {
    chunks = [];
    pieces = [];
    if (file !== undefined) closeSync(file);
    file = undefined;
  }

  return {
    write,
    async release(sink) {
      let at = 0;
      for (const { stream, bytes } of pieces) {
        for (const end = at + bytes; at < end && file !== undefined; ) {
          const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, end - at));
          const read = readSync(file, buffer, 0, buffer.length, at);
          if (read === 0) break;
          at += read;
          await sink.write(buffer.subarray(0, read), stream);
        }
      }
      for (const { chunk, stream } of chunks) await sink.write(chunk, stream);
      discard();
    },
    discard,
    get trouble() {
      return trouble;
    },
  };
}

/** Readable and writable by this user alone, and gone from its directory at once. */
function openNameless(): number {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-output-'));
  const path = join(directory, 'held');
  try {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  } finally {
    rmdirSync(directory);
  }
}
