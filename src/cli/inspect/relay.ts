import { pipeline, type Readable, Transform } from 'node:stream';
import { askRuntime } from '../../control/client.ts';
import { streamFromRuntime } from '../../control/streamClient.ts';
import { systemClock } from '../../runtime/systemClock.ts';
import { endFrame } from '../../inspector/frames.ts';
import { CommandError } from '../errors.ts';
import { sanitize } from '../sanitize.ts';

/** Tells whether nobody listens behind a socket any more. A busy listener is still there. */
export async function isGone(socket: string): Promise<boolean> {
  const answer = await askRuntime(socket, 'status', undefined, { clock: systemClock });
  return !answer.ok && answer.reason === 'absent';
}

/**
 * The frames of the runtime behind a socket, each a chunk. They end with the frame that says so when the runtime has stopped.
 * @throws {@link CommandError} when it gives none.
 */
export async function openRelay(socket: string): Promise<Readable> {
  const answer = await streamFromRuntime(socket, 'inspect', { clock: systemClock });
  if (!answer.ok) throw new CommandError(`The gateway cannot be watched: ${sanitize(answer.message)}`);
  // A runtime that stops cuts its clients off: that it is gone has to be said here.
  const relayed = new Transform({
    objectMode: true,
    transform: (frame: unknown, _encoding, done) => done(null, frame),
    flush: (done) => void isGone(socket).then((gone) => done(null, gone ? endFrame : undefined)),
  });
  // A client that closes one closes the other; nobody is left to tell.
  pipeline(answer.items, relayed, () => undefined);
  return relayed;
}
