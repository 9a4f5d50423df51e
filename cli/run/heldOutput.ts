import { closeSync, mkdtempSync, openSync, readSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputStream } from '../../src/machines/subprocessInput.ts';
import type { Sink } from './output.ts';
import { messageOf } from '../../src/policy/thrown.ts';

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
