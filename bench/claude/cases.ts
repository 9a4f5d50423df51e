import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClaude } from '../../agents/claude/claude.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { quantile } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';

/** A program that is run as `claude -p` is. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/** What asks a program. */
export interface Asker {
  ask(prompt: string): Promise<string>;
  stop(): Promise<void>;
}

/** Gets a directory for what it writes. */
export type Way = (program: Program, directory: string) => Asker;

/** Answers what it is asked, in a millisecond: what is put around it is all that is left. */
const echo: Program = { command: 'awk', args: ['BEGIN { ARGC = 1 } { print }'] };
/** Is under way until it is ended. */
const waiting: Program = {
  command: process.execPath,
  args: [fileURLToPath(new URL('./waits.js', import.meta.url))],
};
const modes = ['-p', '--output-format', 'stream-json', '--verbose'];
const answer = 'x'.repeat(1000);
/** What Claude says of a call, which the program says after us. */
const prompt = [
  { type: 'system', subtype: 'init', session_id: 's' },
  {
    ...{ type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: answer },
    ...{ session_id: 's', terminal_reason: 'completed' },
  },
]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join('');

/** The least that Node itself can do it for. */
export const spawned: Way = ({ command, args }) => {
  const children = new Set<ChildProcess>();
  return {
    async ask(text) {
      const child = spawn(command, [...args, ...modes]);
      children.add(child);
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
      child.stdin.end(text);
      await once(child, 'close');
      children.delete(child);
      const messages = said.trim().split('\n');
      return (JSON.parse(messages.at(-1) ?? '{}') as { result?: string }).result ?? '';
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
};

export const subprocess: Way = ({ command, args }) => {
  const gateway = createGateway({ control: false, logger: false });
  const started = gateway.start();
  const integration = gateway.subprocess('claude', {
    command,
    args: [...args, ...modes],
    agent: 'claude',
    promptBy: 'stdin',
  });
  return {
    async ask(text) {
      await started;
      const outcome = await integration.call({ prompt: text });
      return outcome.ok ? (outcome.value.agent?.text ?? '') : outcome.failure.message;
    },
    stop: () => gateway.stop(),
  };
};

export const client: Way = (program, directory) => {
  const claude = createClaude({ ...program, logger: false, logDir: directory });
  return {
    ask: async (text) => {
      const { output, error } = await claude.invokeClaude(text);
      return output ?? error ?? '';
    },
    stop: () => claude.stop(),
  };
};

const warmUp = 30;
const calls = 150;

/** One call after the other, in turns with another way. Records how long a call takes, and how much more that is than the other way. */
export function inTurn(way: Way, other: Way): Case {
  return {
    isolated: true,
    measure: (probe) =>
      inNewDirectory(async (directory) => {
        const askers = [way(echo, directory), other(echo, directory)];
        const samples = askers.map((): number[] => []);
        for (let call = 0; call < warmUp + calls; call++) {
          for (const [index, asker] of askers.entries()) {
            const start = performance.now();
            if ((await asker.ask(prompt)) !== answer) throw new Error('Another answer than was asked for');
            if (call >= warmUp) samples[index]?.push(performance.now() - start);
          }
        }
        for (const asker of askers) await asker.stop();
        const [own = 0, base = 0] = samples.map((each) => quantile(each, 0.5));
        probe.record('call', own, 'ms');
        probe.record('added', own - base, 'ms');
      }),
  };
}

const underWay = 20;

/** Calls under way. Records what each holds in this process. */
export function held(way: Way): Case {
  return {
    isolated: true,
    measure: (probe) =>
      inNewDirectory(async (directory) => {
        const first = way(echo, directory);
        await first.ask(prompt);
        await first.stop();
        const asker = way(waiting, directory);
        const asked = await probe.heap('heap', underWay, async () => {
          const all = Array.from({ length: underWay }, () => asker.ask(prompt));
          // Until all have been started, and have taken their prompts.
          await new Promise((resolve) => {
            setTimeout(resolve, 2_000);
          });
          return all;
        });
        await asker.stop();
        await Promise.allSettled(asked);
      }),
  };
}

async function inNewDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
