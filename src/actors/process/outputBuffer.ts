import type { CapturedOutput } from '../../machines/subprocessExit.ts';
import { integer, type Given } from '../../policy/options/optionKeys.ts';
import { readOptions } from '../../policy/options/readOptions.ts';

const bufferKeys = {
  /** Bytes kept from the start. At least 0. @defaultValue 65536 */
  headBytes: integer({ min: 0, default: 64 * 1024 }),
  /** Bytes kept from the end. At least 0. @defaultValue 262144 */
  tailBytes: integer({ min: 0, default: 256 * 1024 }),
};

interface OutputBufferOptions extends Given<typeof bufferKeys> {}

/** The start and the end of a stream of any length, in bounded memory. */
export type OutputBuffer = ReturnType<typeof createOutputBuffer>;

/** @throws TypeError or RangeError when a size is not an integer of at least 0. */
export function createOutputBuffer(options: OutputBufferOptions = {}) {
  const { headBytes, tailBytes } = readOptions('options', options, bufferKeys);
  let head: Buffer = Buffer.alloc(0);
  let headLength = 0;
  let ring: Buffer = Buffer.alloc(0);
  let bytes = 0;

  /** Grows by doubling up to `limit`, so that a child that says little costs little. */
  const grown = (buffer: Buffer, needed: number, limit: number): Buffer => {
    if (needed <= buffer.length) return buffer;
    const larger = Buffer.alloc(Math.min(limit, Math.max(needed, buffer.length * 2, 1024)));
    buffer.copy(larger);
    return larger;
  };

  const pushTail = (chunk: Uint8Array): void => {
    const before = bytes - headLength;
    ring = grown(ring, Math.min(before + chunk.length, tailBytes), tailBytes);
    if (ring.length === 0) return;
    const kept = chunk.subarray(Math.max(0, chunk.length - ring.length));
    // The ring wraps only at its full size: until then, what is in it starts at 0.
    const at = (before + chunk.length - kept.length) % ring.length;
    ring.set(kept.subarray(0, ring.length - at), at);
    ring.set(kept.subarray(ring.length - at), 0);
  };

  const tail = (): Buffer => {
    const length = bytes - headLength;
    if (length <= ring.length) return ring.subarray(0, length);
    const start = length % ring.length;
    return Buffer.concat([ring.subarray(start), ring.subarray(0, start)]);
  };

  const capture = (): CapturedOutput => {
    const end = tail();
    const start = head.subarray(0, headLength);
    if (headLength + end.length === bytes) {
      return { text: Buffer.concat([start, end]).toString('utf8'), bytes, omittedBytes: 0 };
    }
    const wholeStart = start.subarray(0, wholeLength(start));
    const wholeEnd = end.subarray(firstWhole(end));
    const omittedBytes = bytes - wholeStart.length - wholeEnd.length;
    const marker = `\n[... ${omittedBytes} bytes left out ...]\n`;
    return { text: `${wholeStart.toString('utf8')}${marker}${wholeEnd.toString('utf8')}`, bytes, omittedBytes };
  };

  return {
    /** Takes the next bytes; keeps no reference to `chunk`. */
    push(chunk: Uint8Array): void {
      const toHead = Math.min(chunk.length, headBytes - headLength);
      if (toHead > 0) {
        head = grown(head, headLength + toHead, headBytes);
        head.set(chunk.subarray(0, toHead), headLength);
        headLength += toHead;
        bytes += toHead;
      }
      if (toHead < chunk.length) {
        const rest = chunk.subarray(toHead);
        pushTail(rest);
        bytes += rest.length;
      }
    },
    /** Bytes taken in all. */
    get bytes(): number {
      return bytes;
    },
    /** Returns what was kept, as UTF-8; where bytes were left out, a line between start and end says how many. */
    text: (): string => capture().text,
    /** {@link OutputBuffer.text} with its figures. */
    capture,
  };
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Length without a character that was cut off at the end. */
function wholeLength(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead--;
  const first = bytes[lead];
  if (first === undefined || first < 0xc0) return bytes.length;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return bytes.length - lead < needed ? lead : bytes.length;
}

/** Finds the first character that was not cut off at the start. */
function firstWhole(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at++;
  return at;
}
