import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import { workflowKind, type WorkflowMethods } from '../../workflow/workflow.ts';
import type { Gateway } from '../../src/gateway/gatewayTypes.ts';
import { unwrap } from '../../src/policy/failures/failure.ts';
import type { Fact, FactOf, FactType } from '../../src/policy/facts/facts.ts';
import { type FaultyUpstream, faultyUpstream, type UpstreamScript } from '../../testing/faultyUpstream.ts';
import type { WorkflowBackend, WorkflowItem, WorkflowPlan } from '../../workflow/workflowTypes.ts';
import { SkippingClock } from '../support/skippingClock.ts';

/** A backend that asks the upstream: for its plan `/plan`, for an item `/items/ID`. */
export type HttpBackend = WorkflowBackend<string, string, string>;

export interface World {
  readonly gateway: Gateway & WorkflowMethods;
  readonly clock: SkippingClock;
  readonly upstream: FaultyUpstream;
  /** Asks over HTTP. */
  readonly remote: HttpBackend;
  /** Starts a process for each step, which asks `/local/ID` of the same upstream. */
  readonly local: HttpBackend;
  readonly facts: readonly Fact[];
  told<T extends FactType>(type: T): FactOf<T>[];
}

/** The answer to `/plan`: items of these ids, each with the ids it depends on. */
export function plan(items: Readonly<Record<string, readonly string[]>>): string {
  const list = Object.entries(items).map(
    ([id, dependencies]): WorkflowItem => ({ id, action: `do ${id}`, dependencies, tools: ['fetch'], servers: ['kb'] }),
  );
  return JSON.stringify({ success: true, items: list } satisfies WorkflowPlan);
}

/** A started gateway before an HTTP upstream of the script; waits between attempts are skipped. */
export async function startWorld(script: UpstreamScript, localPlan = '{}'): Promise<World> {
  const upstream = await faultyUpstream(script);
  const clock = new SkippingClock();
  const gateway = createGateway({ kinds: [workflowKind], clock, random: () => 0.5 });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  gateway.on('call.retried', ({ delayMs }) => clock.nextTurn(() => clock.skip(delayMs ?? 0)));
  const worker = gateway.subprocess('worker', {
    command: process.execPath,
    args: [fileURLToPath(new URL('../fixtures/workflowWorker.mjs', import.meta.url))],
    env: { UPSTREAM: upstream.url, PLAN: localPlan },
  });
  await gateway.start();
  onTestFinished(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const ask = async (path: string, signal: AbortSignal): Promise<string> => {
    const response = await fetch(`${upstream.url}${path}`, { signal });
    const text = await response.text();
    if (response.ok) return text;
    throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
  };
  const run = async (args: readonly string[], signal: AbortSignal): Promise<string> =>
    unwrap(await worker.call({ args }, { signal })).stdout.text;
  return {
    gateway,
    clock,
    upstream,
    facts,
    told: (type) => facts.filter((fact): fact is FactOf<typeof type> => fact.type === type),
    remote: {
      name: 'remote',
      plan: async (_input, { signal }) => JSON.parse(await ask('/plan', signal)) as WorkflowPlan,
      item: ({ id }, { signal }) => ask(`/items/${id}`, signal),
      summary: (items) => items.map((item) => (item.status === 'done' ? item.value : item.status)).join(' '),
    },
    local: {
      name: 'local',
      plan: async (_input, { signal }) => JSON.parse(await run(['plan'], signal)) as WorkflowPlan,
      item: ({ id }, { signal }) => run(['item', id], signal),
      summary: (items) => items.map((item) => (item.status === 'done' ? item.value : item.status)).join(' '),
    },
  };
}
