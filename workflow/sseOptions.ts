import type { Clock } from '../src/policy/face.ts';
import {
  type Given,
  type Key,
  anything,
  duration,
  having,
  readOptions,
  readValue,
} from '../src/policy/options/face.ts';
import { systemClock } from '../src/runtime/face.ts';
import type { ReadEvent, WatchedRun } from './runReader.ts';

export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Proxies that collect an answer before they pass it on are asked not to.
  'x-accel-buffering': 'no',
};

/** A run of a workflow. */
export const runKey = having<WatchedRun, { readonly required: true }>('an object', ['events'], { required: true });

const sseKeys = {
  /**
   * The client's `last-event-id` header as it came: the client gets what happened after that event. Where it is not the number of an
   * event, it gets what happened from the start. @defaultValue from the start
   */
  lastEventId: anything as Key<string | readonly string[] | null | undefined>,
  /**
   * Interval at which a client gets a comment while it has nothing to read, in ms above 0. A client that takes nothing at four such times in a row counts as
   * gone.
   * @defaultValue 15000
   */
  heartbeatMs: duration({ default: 15_000 }),
  /** Source of time and timers. @defaultValue the system's */
  clock: having<Clock>('a clock', ['setTimeout', 'clearTimeout']),
};

/** Place where a client goes on, and how often it gets a sign of life. */
export interface ServerSentEventOptions extends Given<typeof sseKeys> {}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkSse(run: WatchedRun, options: ServerSentEventOptions) {
  readValue('run', run, runKey);
  const { clock = systemClock, heartbeatMs } = readOptions('', options, sseKeys);
  return {
    /** Number of the last event the client has. */
    after: numberOf(options.lastEventId),
    heartbeatMs,
    clock,
  };
}

/** A client says what it likes. */
function numberOf(lastEventId: unknown): number {
  const text: unknown = Array.isArray(lastEventId) ? lastEventId.at(-1) : lastEventId;
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** Comment that every reader of server-sent events skips. */
export const sseComment = ':\n\n';

/** An event as a server-sent event; where events before it are lost, one that says so comes first. */
export function sseFrame({ event: { number, type, data }, expected }: ReadEvent): string {
  const frame = message(number, { type, data });
  if (number <= expected) return frame;
  return message(number - 1, { type: 'workflow_missed', data: { from: expected, to: number - 1 } }) + frame;
}

// JSON has no line ends of its own, and so takes one line of data.
function message(id: number, content: object): string {
  return `id: ${id}\ndata: ${JSON.stringify(content)}\n\n`;
}
