import { systemClock } from './systemClock.ts';
import { readGuardLine } from '../actors/process/guardLines.ts';
import { killMarkedBy } from '../actors/process/processMark.ts';
import { listProcesses } from '../actors/process/processTable.ts';
import { terminateTree } from '../actors/process/processTree.ts';

// The guard of one process: reads from its stdin which children live, and ends them with all that descends from them when the other end
// of the pipe closes, which it does when that process ends. Its one argument tells by which marks its runs are known.

/** Between SIGTERM and SIGKILL, in ms: all are to be gone 2 s after the end of the runtime. */
const graceMs = 500;
/** A process that was being started when the runtime ended carries its mark only once it has begun. In ms. */
const pauseMs = 50;
/** Looks in a row that find nothing, until nothing is left. */
const cleanLooks = 2;
/** Longest life after the end of the runtime, in ms, whatever resists. */
const limitMs = 10_000;

/** Start times by pid. */
const live = new Map<number, string>();
/** Inquiries for a start time, by pid. */
const asked = new Map<number, Promise<void>>();
const [nonce = ''] = process.argv.slice(2);
let rest = '';
let ending: Promise<void> | undefined;

// The end of the whole service or session ends the children too. Their guard must not end before them.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => undefined);

process.stdin.setEncoding('latin1');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) take(line);
});
process.stdin.on('error', () => undefined);
// Deno (2.9.6) tells of no `close`; an `error` has no `end`.
for (const event of ['end', 'close'] as const) process.stdin.once(event, end);

function end(): void {
  ending ??= endAll().finally(() => process.exit());
}

function take(text: string): void {
  const line = readGuardLine(text);
  if (line === undefined) return;
  const { is, pid } = line;
  live.delete(pid);
  asked.delete(pid);
  if (is === 'gone') return;
  if (line.startTime !== undefined) live.set(pid, line.startTime);
  else asked.set(pid, identify(pid));
}

async function identify(pid: number): Promise<void> {
  const entry = (await listProcesses()).find((each) => each.pid === pid);
  if (entry !== undefined && asked.delete(pid)) live.set(pid, entry.startTime);
}

async function endAll(): Promise<void> {
  setTimeout(() => process.exit(), limitMs);
  await Promise.all(asked.values());
  await Promise.all(
    [...live].map(([pid, startTime]) => terminateTree(pid, { graceMs, clock: systemClock, startTime })),
  );
  for (let clean = 0; clean < cleanLooks; ) {
    clean = (await killMarkedBy(nonce)) === 0 ? clean + 1 : 0;
    if (clean < cleanLooks) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
