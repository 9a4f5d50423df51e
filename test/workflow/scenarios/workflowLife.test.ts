import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { workflowKind } from '../../../workflow/workflow.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import type { WorkflowRun } from '../../../workflow/workflowTypes.ts';
import {
  type Backend,
  backend,
  eventsOf,
  failing,
  item,
  never,
  planOf,
  startWorkflow,
  untilAborted,
} from '../startWorkflow.ts';

const minutes = 60_000;
const ab = [item('a'), item('b', ['a'])];

/** A backend that hangs in this step until it is aborted. */
const hanging = (step: 'plan' | 'item' | 'summary'): Partial<Backend> => ({
  [step]: (_what: unknown, { signal }: { signal: AbortSignal }) => untilAborted(signal),
});

/** A run that has ended; apart, so that nothing here holds it. */
async function endedRun(run: () => Promise<WorkflowRun<string, string>>): Promise<WorkflowRun<string, string>> {
  const running = await run();
  await running.outcome;
  return running;
}

/** What only `--expose-gc` gives otherwise. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** After so long the figures of its calls are in the store, in ms. */
const figuresKeptMs = 10_000;

describe('a run of a workflow', () => {
  it.each(['plan', 'item', 'summary'] as const)(
    '[W-3] [I-3] is ended by its caller in its %s, and leaves nothing',
    async (step) => {
      const { run, clock, gateway } = await startWorkflow([
        backend('primary', ab, hanging(step)),
        backend('fallback', ab),
      ]);
      const idle = clock.pending;
      const running = await run();
      running.cancel(new Error('enough'));
      const outcome = await running.outcome;
      expect(outcome).toMatchObject({
        status: 'cancelled',
        backend: 'primary',
        fallbacks: [],
        failure: { kind: 'cancelled' },
      });
      expect(outcome.message).toMatch(/^Cancelled with \d of \d items done: enough$/);
      expect(outcome.failure?.cause).toEqual(new Error('enough'));
      await clock.advance(figuresKeptMs);
      expect(clock.pending).toBe(idle);
      expect(gateway.tree().children?.map(({ id }) => id)).not.toContain(running.id);
    },
  );

  it.each(['plan', 'item', 'summary'] as const)(
    '[I-3] that went wrong in its %s leaves no timer either',
    async (step) => {
      const { run, clock } = await startWorkflow([backend('primary', ab, { [step]: () => failing('permanent') })]);
      const idle = clock.pending;
      await (await run()).outcome;
      await clock.advance(figuresKeptMs);
      expect(clock.pending).toBe(idle);
    },
  );

  it('[I-3] that hung and was written off leaves no timer in the end', async () => {
    const { run, clock } = await startWorkflow([backend('primary', ab, { plan: never })]);
    const idle = clock.pending;
    const running = await run();
    await clock.advance(5 * minutes);
    await running.outcome;
    await clock.advance(figuresKeptMs);
    expect(clock.pending).toBe(idle);
  });

  it('[W-3] [R-8] that is ended after a fallback keeps the reason it was given', async () => {
    const first: Partial<Backend> = { plan: () => failing('permanent') };
    const { run } = await startWorkflow([backend('primary', ab, first), backend('fallback', ab, hanging('plan'))]);
    const running = await run();
    running.cancel(new Error('enough'));
    const { failure, status } = await running.outcome;
    expect([status, failure?.message, failure?.cause]).toEqual(['cancelled', 'Cancelled: enough', new Error('enough')]);
  });

  it('[W-3] [R-8] is ended by a signal', async () => {
    const controller = new AbortController();
    const { run } = await startWorkflow([backend('primary', ab, hanging('plan'))]);
    const running = await run({ signal: controller.signal });
    controller.abort(new Error('user left'));
    expect(await running.outcome).toMatchObject({ status: 'cancelled', failure: { message: 'Cancelled: user left' } });
  });

  it('[R-8] does not begin with a signal that was aborted before', async () => {
    let plans = 0;
    const { run, told } = await startWorkflow([
      backend('primary', ab, { plan: () => failing('permanent', `${++plans}`) }),
    ]);
    const running = await run({ signal: AbortSignal.abort(new Error('gone')) });
    expect(await running.outcome).toMatchObject({
      status: 'cancelled',
      failure: { message: 'Cancelled: gone', cause: new Error('gone') },
    });
    expect([plans, told('workflow.primary.started').length]).toEqual([0, 0]);
    expect((await eventsOf(running)).map(({ type }) => type)).toEqual(['workflow_ended']);
  });

  it('[R-8] lets go of the signal when it has ended', async () => {
    const controller = new AbortController();
    const { run } = await startWorkflow([backend('primary', ab)]);
    const running = await run({ signal: controller.signal });
    expect(await running.outcome).toMatchObject({ status: 'succeeded' });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('[I-1] is ended once: what comes later changes nothing', async () => {
    const { run } = await startWorkflow([backend('primary', ab)]);
    const running = await run();
    const outcome = await running.outcome;
    running.cancel();
    expect(await running.outcome).toBe(outcome);
    expect((await eventsOf(running)).filter(({ type }) => type === 'workflow_ended')).toHaveLength(1);
  });

  it('[I-1] does not count a run that was cancelled against its backend', async () => {
    const { run, told } = await startWorkflow([backend('primary', ab, hanging('plan'))]);
    for (let count = 0; count < 4; count++) {
      const running = await run();
      running.cancel();
      await running.outcome;
    }
    expect(told('breaker.opened')).toEqual([]);
    expect(told('workflow.primary.failed')).toHaveLength(4);
  });

  it.each([
    'workflow.primary.started',
    'workflow.primary.planned',
    'workflow.primary.item_error',
    'workflow.primary.failed',
    'workflow_fallback',
    'workflow.fallback.started',
    'call.retried',
    'call.failed',
    'child.started',
    'integration.changed',
  ] as const)('[I-1] can be cancelled by who hears of %s', async (type) => {
    const { gateway, workflow, clock } = await startWorkflow([
      backend('primary', ab, { item: () => failing('transient') }),
      backend('fallback', ab, { plan: (_input, { signal }) => untilAborted(signal) }),
    ]);
    const controller = new AbortController();
    gateway.on(type, () => controller.abort());
    const running = workflow.run('input', { signal: controller.signal });
    await clock.advance(5 * minutes);
    expect((await running.outcome).status).toBe('cancelled');
  });

  it.each(['plan', 'item', 'summary'] as const)('[I-1] can be cancelled from within its %s', async (step) => {
    let running: WorkflowRun<string, string> | undefined;
    const { run } = await startWorkflow([
      backend('primary', ab, {
        [step]: (_what: unknown, { signal }: { signal: AbortSignal }) => {
          queueMicrotask(() => running?.cancel(new Error('mine')));
          return untilAborted(signal);
        },
      }),
    ]);
    running = await run();
    running.cancel(new Error('mine'));
    expect(await running.outcome).toMatchObject({ status: 'cancelled' });
  });

  it('[I-1] can be cancelled by the abort of its own item', async () => {
    let running: WorkflowRun<string, string> | undefined;
    const { run, clock } = await startWorkflow([
      backend('primary', ab, {
        item: (_item, { signal }) => {
          signal.addEventListener('abort', () => running?.cancel(new Error('then all')));
          return untilAborted(signal);
        },
      }),
      backend('fallback', ab),
    ]);
    running = await run();
    await clock.advance(5 * minutes);
    expect((await running.outcome).status).toBe('cancelled');
  });

  it.each(['plan', 'item', 'summary'] as const)('[V-5] [I-3] ends with its gateway in its %s', async (step) => {
    const { run, clock, gateway } = await startWorkflow([
      backend('primary', ab, hanging(step)),
      backend('fallback', ab),
    ]);
    const running = await run();
    const stopped = gateway.stop();
    await clock.advance(0);
    await stopped;
    expect(await running.outcome).toMatchObject({ status: 'cancelled', failure: { reason: 'stopped' } });
    expect(clock.pending).toBe(0);
  });

  it.each(['plan', 'item', 'summary'] as const)(
    '[V-5] [I-3] ends with its gateway in a %s that ignores its abort',
    async (step) => {
      const { run, clock, gateway } = await startWorkflow([
        backend('primary', ab, { [step]: never }),
        backend('fallback', ab),
      ]);
      const running = await run();
      const stopped = gateway.stop();
      await clock.advance(0);
      await stopped;
      expect(await running.outcome).toMatchObject({ status: 'cancelled' });
      expect(clock.pending).toBe(0);
    },
  );

  it('[V-5] ends with its gateway while an item waits for its next attempt', async () => {
    const { run, clock, gateway } = await startWorkflow([backend('primary', ab, { item: () => failing('transient') })]);
    const running = await run();
    const stopped = gateway.stop();
    await clock.advance(0);
    await stopped;
    expect(await running.outcome).toMatchObject({
      status: 'cancelled',
      items: [{ status: 'failed' }, { status: 'skipped' }],
    });
  });

  it('[V-5] is refused by a gateway that is stopped', async () => {
    const { workflow, gateway } = await startWorkflow([backend('primary', ab)]);
    await gateway.stop();
    expect(await workflow.run('input').outcome).toMatchObject({ status: 'cancelled', failure: { reason: 'stopped' } });
  });

  it('[M-6] waits for its gateway to start, as a call does', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ kinds: [workflowKind], clock });
    const workflow = gateway.workflow('early', { backends: [backend('primary', ab)] });
    const running = workflow.run('input');
    await clock.advance(4999);
    await gateway.start();
    await clock.settle();
    expect(await running.outcome).toMatchObject({ status: 'succeeded', elapsedMs: 4999 });
    await gateway.stop();
  });

  it('[M-6] [I-3] is unavailable when its gateway does not start within 5 s', async () => {
    const clock = new SimulatedClock();
    const workflow = createGateway({ kinds: [workflowKind], clock }).workflow('early', {
      backends: [backend('primary', ab)],
    });
    const running = workflow.run('input');
    await clock.advance(5000);
    expect(await running.outcome).toMatchObject({ status: 'failed', failure: { kind: 'unavailable' } });
    expect(clock.pending).toBe(0);
  });

  it('[M-6] [I-3] that waits for its gateway can be cancelled, and ends with it', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ kinds: [workflowKind], clock });
    const workflow = gateway.workflow('early', { backends: [backend('primary', ab)] });
    const [first, second] = [workflow.run('input'), workflow.run('input')];
    first.cancel(new Error('no'));
    expect(await first.outcome).toMatchObject({ status: 'cancelled', failure: { message: 'Cancelled: no' } });
    await gateway.stop();
    expect(await second.outcome).toMatchObject({ status: 'cancelled', failure: { reason: 'stopped' } });
    await clock.settle();
    expect(clock.pending).toBe(0);
  });

  it('is apart from another one at the same time', async () => {
    const { workflow, clock } = await startWorkflow([
      backend('primary', ab, {
        item: ({ id }, { session }) => (session === 'bad' ? failing('auth') : `${id}:${session}`),
      }),
      backend('fallback', ab, { item: ({ id }) => id }),
    ]);
    const runs = [workflow.run('x', { session: 'good' }), workflow.run('y', { session: 'bad' })];
    await clock.settle();
    expect(runs.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^deploy-1-[\da-f]{8}$/),
      expect.stringMatching(/^deploy-2-[\da-f]{8}$/),
    ]);
    expect(await Promise.all(runs.map(({ outcome }) => outcome))).toMatchObject([
      { backend: 'primary', items: [{ value: 'a:good' }, { value: 'b:good' }] },
      { backend: 'fallback' },
    ]);
  });

  it('shows where it stands', async () => {
    const { run, clock, gateway } = await startWorkflow(
      [
        backend('primary', [item('x'), item('a'), item('b')], {
          item: ({ id }, { signal, attempt }) =>
            id === 'x' && attempt === 1 ? failing('transient') : untilAborted(signal),
        }),
      ],
      { concurrency: 2 },
    );
    const running = await run();
    await clock.advance(1000);
    const at = [
      { id: 'x', action: 'do x', attempt: 2, maxAttempts: 3 },
      { id: 'a', action: 'do a', attempt: 1, maxAttempts: 3 },
    ];
    expect(running.progress).toEqual({ backend: 'primary', phase: 'working', ended: 0, total: 3, running: at });
    expect(gateway.tree().children?.find(({ id }) => id === `workflow:${running.id}`)).toMatchObject({
      restart: 'temporary',
      details: { phase: 'working' },
    });
    running.cancel();
    await running.outcome;
    expect(running.progress).toMatchObject({ phase: 'ended', total: 3, running: [] });
  });

  it('keeps nothing of a run in the gateway', async () => {
    const { run, clock, gateway } = await startWorkflow([backend('primary', ab)]);
    const before = gateway.tree().children?.length;
    for (let count = 0; count < 50; count++) await (await run()).outcome;
    await clock.settle();
    expect(gateway.tree().children).toHaveLength(before ?? 0);
  });

  it('[I-3] keeps nothing of a run in the workflow', async () => {
    const { run } = await startWorkflow([backend('primary', ab)]);
    const forgotten = new WeakRef(await endedRun(run));
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(forgotten.deref()).toBeUndefined();
  });

  it('[I-1] [I-3] that is cancelled as soon as it is asked for ends once, and the next one runs', async () => {
    const { gateway } = await startWorkflow([backend('other', ab)]);
    const plan = vi.fn<Backend['plan']>(() => planOf(...ab));
    const workflow = gateway.workflow('late', { backends: [backend('primary', ab, { plan })] });
    const [first, second] = [workflow.run('input'), workflow.run('input')];
    first.cancel(new Error('no'));
    expect(await first.outcome).toMatchObject({ status: 'cancelled', failure: { message: 'Cancelled: no' } });
    expect(await second.outcome).toMatchObject({ status: 'succeeded' });
    expect(plan).toHaveBeenCalledTimes(2);
    expect(plan.mock.calls[0]?.[1].signal.aborted).toBe(true);
  });

  it('has a name of its own', async () => {
    const { gateway } = await startWorkflow([backend('primary', ab)]);
    const declare = () => gateway.workflow('deploy', { backends: [backend('primary', ab)] });
    expect(declare).toThrow('The name `deploy` is taken by another workflow');
    expect(() => gateway.workflow('', { backends: [backend('primary', ab)] })).toThrow('`name`');
  });

  it('[M-10] is drawn in the catalogue with the machine that runs', async () => {
    const { run, gateway } = await startWorkflow([backend('primary', ab, hanging('summary'))]);
    const running = await run();
    const shown = gateway.tree().children?.find(({ id }) => id === `workflow:${running.id}`);
    expect(shown?.machineState).toBe('{"trying":"summing_up"}');
    running.cancel();
  });
});
