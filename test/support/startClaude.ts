import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type ClaudeCallOptions,
  type ClaudeOptions,
  type ClaudeResult,
  createClaude,
} from '../../agents/claude/index.ts';
import { createGateway } from '../../src/index.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { fakeClaude, type FakeRun } from './fakeClaude.ts';
import { moment } from './moment.ts';

/** One line of the log. */
export interface LogLine {
  readonly timestamp: string;
  readonly prompt_hash: string;
  readonly attempt: number;
  readonly status: string;
  readonly error_type: string | null;
  readonly wait_time: number;
  readonly response_time: number;
}

/** Claude over a fake program, in simulated time: it goes on by the waits between attempts, and else stands still. */
export async function startClaude(script: readonly FakeRun[], options: Partial<ClaudeOptions> = {}) {
  const fake = fakeClaude(...script);
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: options.random ?? (() => 0.5) });
  const waits: number[] = [];
  let toAdvance = 0;
  const stalls: { readonly runs: number; readonly ms: number }[] = [];
  gateway.on('call.retried', ({ delayMs }) => {
    waits.push(delayMs ?? 0);
    toAdvance += delayMs ?? 0;
  });
  const logDir = join(fake.directory, 'logs');
  const base = { command: fake.command, args: fake.args, logDir, clock, gateway };
  const claude = createClaude({ ...base, ...options, env: { ...fake.env, ...options.env } });
  await gateway.start();
  onTestFinished(async () => {
    await settled(Promise.all([claude.stop(), gateway.stop()]));
  });

  /** Real processes run meanwhile; simulated time passes only where something waits for it. */
  async function settled<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    void promise.finally(() => {
      done = true;
    });
    while (!done) {
      const ms = toAdvance;
      toAdvance = 0;
      if (stalls[0] !== undefined && fake.runs().length >= stalls[0].runs) toAdvance += stalls.shift()?.ms ?? 0;
      await clock.advance(ms);
      await moment();
    }
    return promise;
  }

  return {
    fake,
    clock,
    gateway,
    claude,
    waits,
    logDir,
    settled,
    /** Lets simulated time pass once so many runs have begun. */
    stall: (runs: number, ms: number) => {
      stalls.push({ runs, ms });
    },
    invoke: (prompt = 'say hi', callOptions?: ClaudeCallOptions): Promise<ClaudeResult> =>
      settled(claude.invokeClaude(prompt, callOptions)),
    log: (directory = logDir): readonly LogLine[] => {
      const file = join(directory, 'claude_invocations.jsonl');
      if (!existsSync(file)) return [];
      return readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as LogLine);
    },
  };
}
