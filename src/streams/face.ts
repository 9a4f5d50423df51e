// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type ChunkStream, RelayedStream } from './callStream.ts';
export { ChunkRelay, type Resume, type StreamedAttempt } from './chunkRelay.ts';
export { EncodedBody } from './encodedBody.ts';
export { isModelContent, wordsIn } from './modelContent.ts';
export { ServerSentEventParser } from './serverSentEvents.ts';
export { errorIn, statusOf, toldError } from './toldError.ts';
export { resetError, wasReset } from './wasReset.ts';
