import type { OutputStream } from '../../src/machines/subprocessInput.ts';

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
