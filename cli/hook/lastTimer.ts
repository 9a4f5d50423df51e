import { readdirSync, readFile, readFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Loaded before everything else of `unwedge hook`, and loads nothing: what takes its time to load is what it watches.

/** Exit code of a hook that declines. */
const blockExitCode = 2;
/** Time that a write, the end of a child and the end of Node take of a processor together, with the loading just then, during which no timer fires; in ms. */
const endingCpuMs = 60;
/** Time that the program of a hook takes to load, in ms of a processor. */
const loadingCpuMs = 40;
/** Time left for them of the host's limit: at least so much, in ms, and at most this share of the limit. */
const leastReserveMs = 100;
const mostReserve = 0.4;
const longestTimerMs = 2 ** 31 - 1;

/** Facts for the firing of the last timer; they change as the run goes on. */
interface LastWords {
  /** Name of the hook in the line. */
  name?: string | undefined;
  /** @defaultValue that of a guard that declines */
  exitCode?: (() => number) | undefined;
  /** Ends what runs at once; does not block, and does not throw. */
  kill?: (() => void) | undefined;
}

const last: LastWords = {};
let timer: NodeJS.Timeout | undefined;
/** Limit that the timer is set by. */
let limitMs: number | undefined;

/**
 * Has this process end by itself before its host gives up on it, whatever it is at: a host that was faster takes the guard for one that had
 * nothing against it. The first timer is by what the words say; {@link armLastTimer} sets it by what is found out later.
 * @param words - those after `unwedge hook`.
 * @returns what is to be waited for before anything is loaded: while Node reads what it requires, no timer fires.
 */
export function watchHostLimit(words: readonly string[]): Promise<unknown> | undefined {
  if (!asksToBlock(words)) return undefined;
  const hostMs = hostTimeoutIn(words);
  if (hostMs === undefined) return undefined;
  armLastTimer(hostMs);
  endUnlessTimeFor(loadingCpuMs);
  return readAhead();
}

/** Has the system read the files of this program, however long its disk takes. Never rejects: a file that cannot be read is told of where it is loaded. */
function readAhead(): Promise<unknown> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const paths = readdirSync(folder).map((name) => `${folder}${name}`);
  return Promise.all(paths.map((path) => new Promise<void>((resolve) => readFile(path, () => resolve()))));
}

/** @param hostMs - how long the host waits since it has started this process, in ms. */
export function armLastTimer(hostMs: number): void {
  clearTimeout(timer);
  limitMs = hostMs;
  if (leftMs(hostMs) <= 0) end(hostMs);
  timer = setTimeout(() => end(hostMs), Math.min(longestTimerMs, Math.max(0, leftMs(hostMs))));
}

/** Ends this process where there is no time for what takes that much of a processor, in ms: while it is done no timer fires. */
export function endUnlessTimeFor(cpuMs: number): void {
  if (limitMs !== undefined && leftMs(limitMs) < slowness() * cpuMs) end(limitMs);
}

const leftMs = (hostMs: number): number => hostMs - reserveMs(hostMs) - ageMs();

/** Notes the words and acts for that time. */
export function noteLastWords(words: LastWords): void {
  Object.assign(last, words);
}

/** The run has come to its own end, whose exit code is on its way. */
export function disarmLastTimer(): void {
  clearTimeout(timer);
  limitMs = undefined;
}

/** Measures how much longer everything takes than on an idle machine: 1 where this process had a processor whenever it wanted one. */
export function slowness(): number {
  const { user, system } = process.cpuUsage();
  return Math.max(1, ageMs() / Math.max(1, (user + system) / 1000));
}

/** Returns the time since the host started this process, in ms: Node takes its time to come to its own start. */
export function ageMs(): number {
  const ownMs = process.uptime() * 1000;
  bornBeforeMs ??= Math.max(0, (systemAgeMs() ?? 0) - ownMs);
  return ownMs + bornBeforeMs;
}

let bornBeforeMs: number | undefined;

/** Tells whether the words ask for failures to block, so far as they can be read: any answer but `allow` does, for a typo must not open a guard. */
export function asksToBlock(words: readonly string[]): boolean {
  const value = valueIn(words, '--on-failure');
  return value !== undefined && value !== 'allow';
}

function hostTimeoutIn(words: readonly string[]): number | undefined {
  const [, digits, unit = 's'] =
    /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)?$/.exec(valueIn(words, '--host-timeout') ?? '') ?? [];
  const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit];
  return digits === undefined || unitMs === undefined || Number(digits) === 0 ? undefined : Number(digits) * unitMs;
}

/** Undefined where the option is not given; empty where its value is missing. */
function valueIn(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf('--');
  const own = at < 0 ? words : words.slice(0, at);
  let found: string | undefined;
  for (const [index, word] of own.entries()) {
    if (word === option) found = own[index + 1] ?? '';
    else if (word.startsWith(`${option}=`)) found = word.slice(option.length + 1);
  }
  return found;
}

function reserveMs(hostMs: number): number {
  return Math.min(hostMs * mostReserve, Math.max(leastReserveMs, endingCpuMs * slowness()));
}

/** By the system's own record, in hundredths of a second; undefined where there is none, or it is of another clock. */
function systemAgeMs(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // The name of the program stands in brackets, and may hold any.
    const startedAt = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) / 100;
    const age = (Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) - startedAt) * 1000;
    return age >= 0 && age < 600_000 ? age : undefined;
  } catch {
    return undefined;
  }
}

function end(hostMs: number): void {
  const exitCode = last.exitCode?.() ?? blockExitCode;
  const consequence = exitCode === blockExitCode ? 'it is a guard, so this is declined' : 'going on without it';
  const name = last.name === undefined ? '' : ` ${last.name}`;
  try {
    writeSync(
      2,
      `unwedge: hook${name}: It was not done before the host's limit of ${hostMs / 1000}s; ${consequence}\n`,
    );
  } catch {
    // Nobody reads it.
  }
  last.kill?.();
  // Other ends of a child at the exit look for it among all processes, for which there is no time; its guard does that.
  process.removeAllListeners('exit');
  process.exit(exitCode);
}
