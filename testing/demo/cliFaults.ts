import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fault, Stage } from './fault.ts';
import { pause } from './pause.ts';

/** Shortened for the tour, in ms: how long a command may print nothing, and how long it may run. */
const silenceMs = 1000;
const runMs = 3000;
/** Between SIGTERM and SIGKILL. */
const graceMs = 300;
/** Time in ms that killing may take to show. */
const goneMs = 5000;

const program = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
const readyFile = ({ directory }: Pick<Stage, 'directory'>): string => join(directory, 'stubborn.json');

interface Family {
  readonly pid: number;
  readonly child: number;
}

/** The two processes, once both ignore SIGTERM; undefined when that takes longer than they may run. */
async function readFamily(stage: Stage): Promise<Family | undefined> {
  const pollMs = 25;
  for (let waitedMs = 0; waitedMs < runMs && !stage.signal.aborted; waitedMs += pollMs) {
    const text = await readFile(readyFile(stage), 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text) as Family;
    await pause(pollMs, stage.signal);
  }
  return undefined;
}

/** The caller has its answer by then; the killing goes on behind. */
async function ended(name: string, { processes, signal }: Stage): Promise<string | undefined> {
  try {
    await processes.ended(`process:${name}:`, AbortSignal.any([signal, AbortSignal.timeout(goneMs)]));
    return undefined;
  } catch {
    return signal.aborted ? undefined : `it was not gone ${goneMs / 1000}s later`;
  }
}

export const cliFaults: readonly Fault[] = [
  {
    name: 'cli-silent',
    lane: 'cli',
    integration: 'cli-silent',
    declare({ gateway }) {
      const policy = { limits: { idleMs: silenceMs } };
      gateway.subprocess('cli-silent', { command: process.execPath, args: [program('silentChild')], graceMs, policy });
    },
    // It may have done half of its work: not repeated.
    run: (turn) => turn.tool('cli-silent', 'run', {}, { effect: 'mutating' }),
    settle: (stage) => ended('cli-silent', stage),
    expected: {
      outcome: 'timeout',
      synthetic: true,
      retries: [0, 0],
      leastMs: silenceMs,
      records: [
        { type: 'integration/failure', fields: { kind: 'timeout', reason: 'idle_timeout' } },
        { type: 'process/exited', fields: { reason: 'no-output-timeout' } },
      ],
    },
  },
  {
    name: 'cli-stubborn',
    lane: 'cli',
    integration: 'cli-stubborn',
    declare(stage) {
      const args = [program('stubbornChild'), readyFile(stage)];
      const policy = { limits: { attemptMs: runMs } };
      stage.gateway.subprocess('cli-stubborn', { command: process.execPath, args, graceMs, policy });
    },
    async run(turn, stage) {
      const answer = turn.tool('cli-stubborn', 'run', {}, { effect: 'mutating' });
      const family = await readFamily(stage);
      if (family !== undefined) stage.processes.add(family.child);
      return answer;
    },
    async settle(stage) {
      const family = await readFamily(stage);
      if (family === undefined) return 'it was ended before it ignored anything';
      const late = await ended('cli-stubborn', stage);
      const alive = await stage.processes.alive(family.pid, family.child);
      return alive.length === 0 ? late : `still alive: ${alive.join(', ')}`;
    },
    expected: {
      outcome: 'timeout',
      synthetic: true,
      retries: [0, 0],
      leastMs: runMs,
      records: [
        { type: 'integration/failure', fields: { kind: 'timeout', reason: 'attempt_timeout' } },
        { type: 'process/exited', fields: { reason: 'overall-timeout', signal: 'SIGKILL' } },
      ],
    },
  },
  {
    name: 'cli-missing',
    lane: 'cli',
    integration: 'cli-missing',
    declare({ gateway }) {
      gateway.subprocess('cli-missing', { command: 'unwedge-demo-missing' });
    },
    run: (turn) => turn.tool('cli-missing', 'run'),
    expected: {
      outcome: 'spawn',
      retries: [0, 0],
      records: [
        { type: 'integration/failure', fields: { kind: 'spawn', code: 'ENOENT' } },
        { type: 'session/tool_failed', fields: { kind: 'spawn' } },
      ],
    },
  },
];
