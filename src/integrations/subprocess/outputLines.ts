import type { Clock } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failure.ts';
import { createLineSplitter } from '../../protocol/lines.ts';
import { DecodedStream } from '../../streams/decodedStream.ts';
import type { OutputBytes } from './outputBytes.ts';

/** The lines of what a run prints, without their ends; a last one that has none too. */
export function outputLines(
  output: OutputBytes,
  { maxLineBytes, clock }: { readonly maxLineBytes: number; readonly clock: Clock },
): AsyncIterable<string> {
  const onTooLong = (): never => {
    const message = `A line of the output is longer than ${maxLineBytes} bytes`;
    throw new AttemptError({ kind: 'permanent', reason: 'message_too_large', message, outcome: 'unknown' });
  };
  return new DecodedStream<string>(
    output,
    (give) => {
      const lines = createLineSplitter({ maxBytes: maxLineBytes, onLine: give, onTooLong });
      return {
        push: ({ buffer, byteOffset, byteLength }) => lines.push(Buffer.from(buffer, byteOffset, byteLength)),
        end: () => lines.end(),
        // A run that fails has said its last line all the same.
        broke: () => lines.end(),
      };
    },
    // The process tells its signs of life itself.
    { clock, heard: () => undefined, written: (line) => `${line}\n` },
  );
}
