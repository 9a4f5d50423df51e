import type { LiveStatus } from '../control/answers.ts';
import { formatSeconds } from '../policy/duration.ts';
import type { AskedRuntime } from '../runtime/askRuntimes.ts';
import type { RuntimeRow } from '../store/runtimes.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './timeText.ts';

/** A runtime for people: `gateway.mjs (pid 4711, started 5m ago)`. */
export function runtimeText({ name, pid, startedAt }: RuntimeRow, now: number): string {
  return `${sanitize(name)} (pid ${pid}, started ${ago(startedAt, now)})`;
}

/** That a runtime stops, to follow its name; empty while it does not. */
export function stoppingText(stopping: LiveStatus['stopping']): string {
  if (stopping === undefined) return '';
  const { inMs, sinceMs } = stopping;
  const begun = sinceMs === undefined ? '' : ` (begun ${formatSeconds(sinceMs)} ago)`;
  return inMs > 0
    ? ` is stopping${begun}, and cuts in ${formatSeconds(inMs)} what is under way by then`
    : ' is stopping now';
}

/** One line for each runtime that did not answer. */
export function problemLines(asked: readonly AskedRuntime<unknown>[], now: number): string {
  return asked
    .filter(({ problem }) => problem !== undefined)
    .map(({ runtime, problem }) => `${runtimeText(runtime, now)} does not answer: ${problem}.\n`)
    .join('');
}
