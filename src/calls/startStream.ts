import type { FailureFacts, Outcome } from '../policy/failure.ts';
import { type CallStream, RelayedStream } from '../streams/callStream.ts';
import { ChunkRelay, type Resume, type StreamEnd } from '../streams/chunkRelay.ts';
import type { Call } from './call.ts';
import type { CallPath } from './callPath.ts';
import type { CallSettings } from './callSettings.ts';
import { errorText } from './errorText.ts';
import type { Operation } from './operation.ts';
import * as refusal from './refusal.ts';

/**
 * Makes a call whose answer is a stream, and gives its reader the stream at once.
 * @param operation - answers with the stream; without it, what the integration does for a stream.
 */
export function startStream<I, O, C>(
  path: CallPath<I, O>,
  input: I,
  settings: CallSettings<I, O>,
  resume: Resume<I, C> | undefined,
  operation?: Operation<I, AsyncIterable<C>>,
): CallStream<C> {
  // Refused at once, a call is settled before there is a row to end.
  let call: Call<I, O> | undefined;
  const relay = new ChunkRelay(resume);
  const outcome = new Promise<Outcome<StreamEnd>>((resolve) => {
    // The call does not end with the answer of its operation, but with the end of that.
    const settled = (ended: Outcome<unknown>): void => {
      resolve(ended as Outcome<StreamEnd>);
      relay.settled(ended as Outcome<StreamEnd>);
    };
    call = path.start(input, { ...settings, stream: relay, streamed: operation }, settled);
  });
  const stream = new RelayedStream(relay, outcome, (reason, isReader) => {
    if (call !== undefined && !call.settled)
      path.end(call, streamCancelled(reason, isReader, call.attempt !== undefined));
  });
  return Object.assign(stream, { outcome });
}

/** Why a stream ended that its reader, or its caller, wants no more of. */
export function streamCancelled(reason: unknown, isReader: boolean, inFlight: boolean): FailureFacts {
  const facts = refusal.cancelled(reason, inFlight);
  if (!isReader) return facts;
  const why = errorText(reason);
  const message = why === undefined ? 'The reader left the stream' : `The reader left the stream: ${why}`;
  return { ...facts, reason: 'reader_left', message };
}
