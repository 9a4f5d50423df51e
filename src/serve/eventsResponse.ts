import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Clock, Timer } from '../policy/clock.ts';
import type { FeedReader } from './sessionFeed.ts';

/** Interval of comments where nothing happens, so that nobody in between takes the connection for dead, in ms. */
const heartbeatMs = 15_000;

/** The events of a reader as server-sent events, no faster than its client takes them. */
export function eventsResponse(context: Context, reader: FeedReader, clock: Clock): Response {
  // A proxy in front must not hold them back.
  context.header('X-Accel-Buffering', 'no');
  return streamSSE(context, async (stream) => {
    let timer: Timer | undefined;
    const beat = (): void => {
      timer = clock.setTimeout(() => {
        void stream.write(':\n\n');
        beat();
      }, heartbeatMs);
    };
    stream.onAbort(() => void reader.return());
    // Something at once: a client knows by it that it is heard.
    await stream.write(':\n\n');
    beat();
    try {
      if (reader.missed)
        await stream.writeSSE({ event: 'missed', data: JSON.stringify({ type: 'missed', see: 'history' }) });
      for await (const { id, data } of reader)
        await stream.writeSSE({ id, event: data.type, data: JSON.stringify(data) });
    } finally {
      clock.clearTimeout(timer);
      await reader.return();
    }
  });
}
