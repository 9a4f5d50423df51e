import { Heartbeat } from './heartbeat.ts';
import { type ReadEvent, RunReader, type WatchedRun } from './runReader.ts';
import { checkSse, type ServerSentEventOptions, sseComment, sseFrame, sseHeaders } from './sseOptions.ts';

/**
 * Gives what happens in a run as a response of the fetch kind (Hono, Deno, Bun, workers): the events of `writeServerSentEvents`, at the pace of who reads its
 * body. That the body is cancelled has no effect on the run. Never rejects.
 * @throws TypeError or RangeError when an argument is wrong.
 *
 * @example
 * app.get('/runs/:id/events', (c) =>
 *   serverSentEvents(runs.get(c.req.param('id')), { lastEventId: c.req.header('last-event-id') }),
 * );
 */
export function serverSentEvents(run: WatchedRun, options: ServerSentEventOptions = {}): Promise<Response> {
  return respond(run, checkSse(run, options));
}

async function respond(run: WatchedRun, { after, heartbeatMs, clock }: ReturnType<typeof checkSse>): Promise<Response> {
  const reader = new RunReader(run, after);
  let first: ReadEvent | undefined;
  if (run.progress.phase === 'ended') {
    first = await reader.next();
    // There is nothing to come; browsers that are told so do not ask again.
    if (first === undefined) return new Response(null, { status: 204 });
  }
  const bytes = new TextEncoder();
  let heartbeat: Heartbeat | undefined;
  const leave = (): void => {
    heartbeat?.stop();
    reader.leave();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      heartbeat = new Heartbeat({
        clock,
        everyMs: heartbeatMs,
        beat() {
          if ((controller.desiredSize ?? 0) <= 0) return false;
          controller.enqueue(bytes.encode(sseComment));
          return true;
        },
        stalled() {
          leave();
          controller.error(new Error('Nobody reads the events'));
        },
      });
    },
    async pull(controller) {
      heartbeat?.taken();
      const read = first ?? (await reader.next());
      first = undefined;
      if (read !== undefined) return controller.enqueue(bytes.encode(sseFrame(read)));
      leave();
      closeQuietly(controller);
    },
    cancel: leave,
  });
  return new Response(body, { headers: sseHeaders });
}

/** Closes it; one that was cancelled or has failed meanwhile is closed already. */
function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close();
  } catch {
    // Nobody waits for it.
  }
}
