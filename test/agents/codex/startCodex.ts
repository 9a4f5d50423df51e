import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { codexKind } from '../../../agents/codex/codex.ts';
import type { Codex, CodexOptions } from '../../../agents/codex/index.ts';
import { createGateway, type Fact, type FactOf, type FactType } from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { moment } from '../../support/moment.ts';

/** What the fake does on a request, in order: the deeds of `test/fixtures/codexAppServer.mjs`. */
export type Step = readonly (readonly [deed: string, argument?: unknown])[];
/** By method, `answer` (to a request of the fake) or `start`. */
export type Script = Readonly<Record<string, readonly Step[] | Step>>;

export const codexFixture = fileURLToPath(new URL('../../fixtures/codexAppServer.mjs', import.meta.url));

const live = (method: string, params: object) =>
  ['send', { method, params: { threadId: '$thread', ...params } }] as const;

/** Notifications of the turn at hand. */
export const says = {
  item: (type: 'started' | 'completed', item: object) => live(`item/${type}`, { turnId: '$turn', item }),
  message: (text: string, id = 'm1') => says.item('completed', { type: 'agentMessage', id, text }),
  delta: (delta: string, itemId = 'm1') => live('item/agentMessage/delta', { turnId: '$turn', itemId, delta }),
  retry: (message = 'Reconnecting... 1/5', details = 'boom') =>
    live('error', { turnId: '$turn', willRetry: true, error: { message, additionalDetails: details } }),
  completed: live('turn/completed', { turn: { id: '$turn', status: 'completed', items: [] } }),
  failed: (error: object) => live('turn/completed', { turn: { id: '$turn', status: 'failed', error } }),
  idle: live('thread/status/changed', { status: { type: 'idle' } }),
  asks: (
    id: number | string,
    method = 'item/commandExecution/requestApproval',
    params: object = { command: 'rm -rf /' },
  ) => ['send', { method, id, params: { threadId: '$thread', turnId: '$turn', itemId: 'c1', ...params } }] as const,
};

/** A turn that says one thing and is done. */
export const quickTurn: Step = [['usual'], says.message('done'), says.completed];

/** A message as the fake got it. */
export interface Heard {
  readonly method?: string;
  readonly id?: number | string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A gateway with a scripted app-server on simulated time, and all facts told. */
export async function startCodex(
  script: Script = { 'turn/start': [quickTurn] },
  options: Partial<CodexOptions> & { env?: Record<string, string> } = {},
) {
  const clock = new SimulatedClock();
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const gateway = createGateway({
    kinds: [codexKind],
    clock,
    random: () => 0.5,
    logger: { debug: log, info: log, warn: log, error: log },
  });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  const { env, ...rest } = options;
  const codex = gateway.codex('codex', {
    command: process.execPath,
    args: [codexFixture],
    env: { FAKE_CODEX: JSON.stringify(script), ...env },
    envMode: 'safe',
    ...rest,
  });
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  /** Listens to what the fake hears; again after a crash. */
  const hear = (): void => {
    codex.on('fake/heard', ({ params }) => {
      heard.push(params['message'] as Heard);
      for (const look of waiting) look();
    });
  };
  hear();
  await gateway.start();
  const pump = pumping(clock);
  onTestFinished(async () => {
    const stopped = gateway.stop();
    await pump.until(stopped);
  });
  return {
    gateway,
    codex,
    clock,
    facts,
    logged,
    heard,
    /** The messages of a method that the fake heard, once there are so many; `answer` stands for those without one. */
    heardOf: (method: string, count = 1): Promise<readonly Heard[]> =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = heard.filter((each) => (each.method ?? 'answer') === method);
          if (found.length < count) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    hear,
    of: <T extends FactType>(type: T) => facts.filter((fact): fact is FactOf<T> => fact.type === type),
    wait: gateway.wait,
    ...pump,
  };
}

/** Moves simulated time along while something real is waited for: a process ends when it does, its grace is simulated. */
function pumping(clock: SimulatedClock) {
  return {
    async until<T>(promise: Promise<T>, stepMs = 100): Promise<T> {
      let settled = false;
      const note = (): void => {
        settled = true;
      };
      promise.then(note, note);
      // A limit of minutes is simulated without them, but not by a worker that keeps the process from going on.
      for (let step = 0; !settled; step++) {
        await clock.advance(stepMs);
        if (step < 400 || step % 10 === 0) await moment();
      }
      return promise;
    },
  };
}

/** A thread on an app-server that has come up. */
export async function startThread(script?: Script, options?: Parameters<typeof startCodex>[1]) {
  const started = await startCodex(script, options);
  const thread = await openThread(started.codex);
  return { ...started, thread };
}

export async function openThread(codex: Codex) {
  const outcome = await codex.startThread();
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}
