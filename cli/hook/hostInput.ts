import type { Writable } from 'node:stream';
import { type HookInput, readHookInput } from '../../src/protocol/hookEvents.ts';

/** Bytes of the input that are kept to be read; all of it is passed on, however long. */
const maxKeptBytes = 8 * 1024 * 1024;

/** Input of the host to the hook: passed on byte for byte as it comes, and read for what it is about. */
export type HostInput = ReturnType<typeof readHostInput>;

/** Reads nothing before somebody takes it: what came while the circuit was asked would be lost. */
export function readHostInput(host: NodeJS.ReadStream = process.stdin) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let said: HookInput | undefined;
  host.pause();
  host.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxKeptBytes) chunks.push(chunk);
  });
  const ended = new Promise<void>((resolve) => {
    host.once('error', () => resolve());
    host.once('end', () => {
      if (bytes <= maxKeptBytes) said = readHookInput(Buffer.concat(chunks).toString('utf8'));
      resolve();
    });
  });
  return {
    /** Content of it; undefined before its end, and when it is no JSON that names an event or longer than 8 MiB. */
    get said(): HookInput | undefined {
      return said;
    },
    /** Settles when the host has written all. It may never. */
    ended,
    passTo(child: Writable): void {
      // A hook may end or close its stdin without having read it.
      child.on('error', () => undefined);
      host.once('error', () => child.end());
      // A pipe that breaks stops the stream; the host still has to get rid of the rest.
      child.on('unpipe', () => host.resume());
      host.pipe(child);
    },
    /** Reads on without a child, so that the host is never kept waiting. */
    drop: () => void host.resume(),
  };
}
