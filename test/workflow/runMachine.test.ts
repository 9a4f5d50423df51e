import { describe, expect, it } from 'vitest';
import { createActor, fromCallback, fromPromise } from 'xstate';
import {
  type BackendEnd,
  type BackendOrder,
  type WorkflowEmitted,
  workflowMachine,
  type WorkflowMachineEvent,
  type WorkflowSlotInput,
} from '../../workflow/runMachine.ts';
import type { Failure, FailureKind } from '../../src/policy/failures/failure.ts';
import { type Deferred, deferred } from '../support/deferred.ts';

const failure = (kind: FailureKind): Failure => ({
  kind,
  message: kind,
  outcome: 'failed',
  integration: 'x',
  attempts: 1,
  retryable: false,
});
const ended = (end: Partial<BackendEnd>): WorkflowMachineEvent => ({
  type: 'call.ended',
  ok: false,
  done: 0,
  undone: 0,
  ...end,
});
const items = (figures: object): WorkflowMachineEvent => ({
  type: 'items.changed',
  ended: 0,
  done: 0,
  total: 2,
  critical: false,
  ...figures,
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A run whose slots do nothing but what the test says. */
function start(backends: readonly string[] = ['a', 'b']) {
  const orders: BackendOrder[] = [];
  const calls: WorkflowSlotInput[] = [];
  const steps: Record<'plan' | 'summary', Deferred<void>> = { plan: deferred(), summary: deferred() };
  const check = deferred<{ problems: number; error?: unknown }>();
  const stopped: string[] = [];
  const actor = createActor(
    workflowMachine.provide({
      actors: {
        call: fromCallback<BackendOrder, WorkflowSlotInput>(({ input, receive }) => {
          calls.push(input);
          receive((order) => orders.push(order));
          return () => stopped.push(`call ${input.backend}`);
        }),
        plan: fromPromise<void, WorkflowSlotInput>(() => steps.plan.promise),
        check: fromPromise<{ problems: number; error?: unknown }, WorkflowSlotInput>(() => check.promise),
        items: fromCallback<WorkflowMachineEvent, WorkflowSlotInput>(() => () => stopped.push('items')),
        summary: fromPromise<void, WorkflowSlotInput>(() => steps.summary.promise),
      },
    }),
    { input: { run: 'r', backends } },
  );
  const told: WorkflowEmitted[] = [];
  const errors: unknown[] = [];
  actor.on('*', (event) => told.push(event));
  actor.subscribe({ error: (error) => errors.push(error) });
  actor.start();
  return { actor, orders, calls, steps, check, stopped, told, errors, value: () => actor.getSnapshot().value };
}

/** The same, brought to its items. */
async function startWorking() {
  const started = start();
  started.actor.send({ type: 'call.admitted' });
  started.steps.plan.resolve();
  started.check.resolve({ problems: 0 });
  await turn();
  return started;
}

describe('the workflow machine', () => {
  it('[W-2] asks the circuit before anything of a backend is done', () => {
    const { actor, told, value, calls } = start();
    expect([value(), calls]).toEqual([{ trying: 'asking' }, [{ run: 'r', backend: 0 }]]);
    expect(told).toEqual([]);
    actor.send({ type: 'call.admitted' });
    expect([value(), told]).toEqual([{ trying: 'planning' }, [{ type: 'backend.began', backend: 0 }]]);
  });

  it('[W-5] does the items of a sound plan', async () => {
    expect((await startWorking()).value()).toEqual({ trying: 'working' });
  });

  it('[W-5] closes the call with what is wrong with a plan', async () => {
    const { actor, steps, check, orders, value } = start();
    actor.send({ type: 'call.admitted' });
    steps.plan.resolve();
    check.resolve({ problems: 2, error: 'bad' });
    await turn();
    expect([value(), orders]).toEqual([{ trying: 'closing' }, [{ type: 'call.close', failed: true, error: 'bad' }]]);
  });

  it.each([
    ['a critical one', { critical: true, error: 'e' }, 'closing'],
    ['none was done', { ended: 2, done: 0, error: 'e' }, 'closing'],
    ['one was done', { ended: 2, done: 1 }, 'summing_up'],
    ['one is left', { ended: 1, done: 1 }, 'working'],
    ['one failed and one is left', { ended: 1, done: 0 }, 'working'],
  ])('[W-4] judges the end of items: %s', async (_what, figures, state) => {
    const { actor, orders, value } = await startWorking();
    actor.send(items(figures));
    await turn();
    expect(value()).toEqual({ trying: state });
    const close = { type: 'call.close', failed: true, error: 'e' };
    expect(orders).toEqual(state === 'closing' ? [close] : []);
  });

  it('[W-1] closes the call when the summary is made', async () => {
    const { actor, steps, orders, value } = await startWorking();
    actor.send(items({ ended: 2, done: 2 }));
    steps.summary.resolve();
    await turn();
    expect(value()).toEqual({ trying: 'closing' });
    expect(orders).toEqual([{ type: 'call.close', failed: false, error: undefined }]);
  });

  it.each(['plan', 'check', 'summary'] as const)(
    '[W-1] closes the call with what the slot %s fails with',
    async (slot) => {
      const { actor, steps, check, orders } = start();
      actor.send({ type: 'call.admitted' });
      const error = new Error(slot);
      if (slot === 'plan') steps.plan.reject(error);
      steps.plan.resolve();
      if (slot === 'check') check.reject(error);
      check.resolve({ problems: 0 });
      await turn();
      actor.send(items({ ended: 2, done: 2 }));
      if (slot === 'summary') steps.summary.reject(error);
      await turn();
      expect(orders).toEqual([{ type: 'call.close', failed: true, error }]);
    },
  );

  it.each([
    ['succeeded', { ok: true, done: 2 }],
    ['partial', { ok: true, done: 1, undone: 1 }],
    ['cancelled', { failure: failure('cancelled') }],
  ] as const)('[W-1] ends %s with the end of the call', async (status, end) => {
    const { actor, told, value } = await startWorking();
    actor.send(ended(end));
    expect(value()).toBe(status);
    expect(told.slice(1)).toMatchObject([
      { type: 'backend.ended', next: undefined },
      { type: 'run.ended', status },
    ]);
  });

  it.each(['circuit_open', 'timeout', 'unavailable', 'permanent'] as const)(
    '[W-1] gives the next backend its turn after %s',
    (kind) => {
      const { actor, told, value, calls, stopped } = start();
      actor.send(ended({ failure: failure(kind) }));
      expect(value()).toEqual({ trying: 'asking' });
      expect(calls.map(({ backend }) => backend)).toEqual([0, 1]);
      expect(stopped).toEqual(['call 0']);
      expect(told).toMatchObject([{ type: 'backend.ended', backend: 0, next: 'b' }]);
    },
  );

  it('[W-1] forgets what the backend before failed with', async () => {
    const { actor, orders, steps, check } = start();
    actor.send({ type: 'call.admitted' });
    steps.plan.reject(new Error('no'));
    await turn();
    actor.send(ended({ failure: failure('unknown') }));
    expect(actor.getSnapshot().context).toMatchObject({ backend: 1, failed: false, error: undefined });
    check.resolve({ problems: 0 });
    expect(orders).toHaveLength(1);
  });

  it('[W-3] fails when the last backend has failed', () => {
    const { actor, told, value } = start(['a']);
    actor.send(ended({ failure: failure('timeout') }));
    expect(value()).toBe('failed');
    expect(told.at(-1)).toEqual({ type: 'run.ended', status: 'failed' });
  });

  it.each([
    ['run.cancel', 'cancelled', 'cancelled'],
    ['run.expired', 'expired', 'failed'],
    ['shutdown', 'stopped', 'cancelled'],
  ] as const)('[W-3] has the call end on %s, and tries no further backend', (type, ending, status) => {
    const { actor, orders, value } = start();
    actor.send({ type });
    expect(orders).toMatchObject([{ type: 'call.end', ending }]);
    // It may have ended by itself in the same moment.
    actor.send(ended({ failure: failure('timeout') }));
    expect(value()).toBe(status);
  });

  it('[W-3] takes the end it was told for what it is, whoever wanted another', () => {
    const { actor, value } = start();
    actor.send({ type: 'run.cancel' });
    actor.send(ended({ ok: true, done: 1 }));
    expect(value()).toBe('succeeded');
  });

  it('[W-3] ends items at work when the call has ended', async () => {
    const { actor, stopped } = await startWorking();
    actor.send(ended({ failure: failure('timeout') }));
    expect(stopped.toSorted()).toEqual(['call 0', 'items']);
  });

  it('[M-10] fails, and names the slot, when nobody has filled it', () => {
    const errors: unknown[] = [];
    const told: WorkflowEmitted[] = [];
    const actor = createActor(workflowMachine, { input: { run: 'r', backends: ['a'] } });
    actor.on('*', (event) => told.push(event));
    actor.subscribe({ error: (error) => errors.push(error) });
    actor.start();
    expect([actor.getSnapshot().value, errors]).toEqual(['failed', []]);
    const error = new Error('The slot `call` of the workflow machine is not filled');
    expect(told[0]).toMatchObject({ type: 'backend.ended', end: { ok: false, error } });
  });
});
