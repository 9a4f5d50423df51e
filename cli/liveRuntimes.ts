import type { LiveStatus } from '../src/control/face.ts';
import { dbWords, formatSeconds, wrapWords } from '../src/policy/text/face.ts';
import type { AskedRuntime } from '../operator/askRuntimes.ts';
import type { RuntimeRow } from '../src/store/face.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './text.ts';
import type { OtherRuntime } from '../operator/unlisted.ts';
import type { Io } from './io.ts';

/** A runtime for people: `gateway.mjs (pid 4711, started 5m ago)`; with its machine where several share a store. */
export function runtimeText({ name, pid, startedAt, host }: RuntimeRow, now: number): string {
  const on = host === undefined ? '' : ` on ${sanitize(host)}`;
  return `${sanitize(name)} (pid ${pid}${on}, started ${ago(startedAt, now)})`;
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

/** Writes one line for each runtime that did not answer, and for each that can be asked on another machine alone. */
export function problemLines(asked: readonly AskedRuntime<unknown>[], now: number): string {
  return asked
    .filter(({ problem }) => problem !== undefined)
    .map((each) =>
      each.elsewhere === undefined
        ? `${runtimeText(each.runtime, now)} ${each.refused === true ? 'answers' : 'does not answer'}: ${each.problem ?? ''}.\n`
        : `${elsewhereText(each, now)}.\n`,
    )
    .join('');
}

/** That a runtime is on another machine: what can be done about it there alone. */
export function elsewhereText({ runtime, problem }: AskedRuntime<unknown>, now: number): string {
  if (runtime.liveness === 'dead') return `${sanitize(runtime.name)} (pid ${runtime.pid}) is gone: ${problem ?? ''}`;
  return `${runtimeText(runtime, now)} takes orders on its own machine alone: give them there`;
}

/** More of them are told by their number. */
const mostOthers = 8;

/** Lists runtimes on other databases, and the command that looks there; a command is never broken, so that it can be copied. */
export function othersText(others: readonly OtherRuntime[], now: number, io: Pick<Io, 'columns' | 'own'>): string {
  const { own = 'unwedge' } = io;
  const lines = others
    .slice(0, mostOthers)
    .flatMap(({ name, pid, startedAt, database }) => [
      ...wrapWords(`${sanitize(name)} (pid ${pid}, started ${ago(startedAt, now)})`, io.columns - 2).map(
        (line) => `  ${line}`,
      ),
      `    ${own} status${dbWords(database)}`,
    ]);
  const more = others.length - mostOthers;
  const rest = more > 0 ? [`  … and ${more} more: --json has all`] : [];
  return `${[...wrapWords('Gateways and proxies that run on other databases:', io.columns), ...lines, ...rest].join('\n')}\n`;
}
