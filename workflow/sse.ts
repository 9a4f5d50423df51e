import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { checkFunction, checkObject } from '../src/policy/options/face.ts';
import { Heartbeat } from './heartbeat.ts';
import { BackpressuredWriter } from './backpressuredWriter.ts';
import { RunReader, type WatchedRun } from './runReader.ts';
import { checkSse, type ServerSentEventOptions, sseComment, sseFrame, sseHeaders } from './sseOptions.ts';

/** End of the writing of events. */
export interface ServerSentEventsEnd {
  /** Events that were written; what was on its way when the client went is among them. */
  readonly delivered: number;
  /** `ended`: the run has ended, and all of it was handed on. */
  readonly reason: 'ended' | 'client_gone';
}

/** A response of `node:http` or Express, or any other writable. */
export type ServerSentEventResponse = Writable &
  Partial<Pick<ServerResponse, 'headersSent' | 'setHeader' | 'statusCode' | 'flushHeaders'>> & {
    /** Flushes a response that is compressed on its way. */
    readonly flush?: (() => void) | undefined;
  };

/**
 * Writes what happens in a run to a response, as server-sent events `data: {"type":…,"data":…}` with the number of the event as their id, and
 * ends the response with the run. A client that goes away ends the writing, never the run; one that comes back goes on after its last
 * event. What it missed and is no longer kept is said: `{"type":"workflow_missed","data":{"from":…,"to":…}}`. A client that has
 * seen the end is answered 204, upon which browsers do not come back. Never rejects.
 * @throws TypeError or RangeError when an argument is wrong.
 *
 * @example
 * app.get('/runs/:id/events', (request, response) => {
 *   const run = runs.get(request.params.id);
 *   void writeServerSentEvents(run, response, { lastEventId: request.headers['last-event-id'] });
 * });
 */
export function writeServerSentEvents(
  run: WatchedRun,
  response: ServerSentEventResponse,
  options: ServerSentEventOptions = {},
): Promise<ServerSentEventsEnd> {
  const checked = checkSse(run, options);
  checkObject('response', response);
  for (const method of ['write', 'end', 'on', 'off'] as const) checkFunction(`response.${method}`, response[method]);
  return writeFrames(run, response, checked);
}

async function writeFrames(
  run: WatchedRun,
  response: ServerSentEventResponse,
  { after, heartbeatMs, clock }: ReturnType<typeof checkSse>,
): Promise<ServerSentEventsEnd> {
  const reader = new RunReader(run, after);
  const writer = new BackpressuredWriter(response, () => reader.leave());
  const flush = (): void => writer.attempt(() => response.flush?.());
  // The first read of a run that is over says whether there is anything to send.
  const isOver = run.progress.phase === 'ended';
  if (!isOver) begin(response, writer);
  const heartbeat = new Heartbeat({
    clock,
    everyMs: heartbeatMs,
    beat() {
      const taken = writer.hasRoom && writer.put(sseComment);
      flush();
      return taken;
    },
    stalled: () => writer.abandon(),
  });
  let delivered = 0;
  for (;;) {
    const read = await reader.next();
    if (read === undefined) break;
    if (isOver && delivered === 0) begin(response, writer);
    if (!writer.put(sseFrame(read))) break;
    flush();
    delivered++;
    await writer.room();
    heartbeat.taken();
  }
  if (isOver && delivered === 0) refuse(response, writer);
  await writer.end();
  heartbeat.stop();
  return { delivered, reason: writer.gone ? 'client_gone' : 'ended' };
}

function begin(response: ServerSentEventResponse, writer: BackpressuredWriter): void {
  writer.attempt(() => {
    if (response.headersSent !== false) return;
    for (const [name, value] of Object.entries(sseHeaders)) response.setHeader?.(name, value);
    // A client is to know that it is heard before anything happens.
    response.flushHeaders?.();
  });
}

/** There is nothing to come. */
function refuse(response: ServerSentEventResponse, writer: BackpressuredWriter): void {
  writer.attempt(() => {
    if (response.headersSent === false) response.statusCode = 204;
  });
}
