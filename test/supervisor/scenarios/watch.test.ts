import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { assign, fromCallback, fromPromise, sendTo, setup } from 'xstate';
import { createGateway } from '../../../src/index.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import type { Exit } from '../../../src/supervisor/exit.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import { startIntegration } from '../../support/startIntegration.ts';
import { worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const boom = (): never => {
  throw new Error('boom');
};

const startWatched = () => {
  const notices: [Exit, number][] = [];
  const watcher = (exit: Exit, incarnation: number) => void notices.push([exit, incarnation]);
  return { ...startRoot([{ id: 'a', logic: worker }]), notices, watcher };
};
const notice = [{ reason: 'failure', error: new Error('boom') }, 1];

/** A gateway with one integration whose answers the test gives. */
const startGateway = async () => {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5 });
  onTestFinished(() => gateway.stop());
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const answers: ReturnType<typeof deferred<string>>[] = [];
  const kb = gateway.integration('kb', {}, () => {
    const answer = deferred<string>();
    answers.push(answer);
    return answer.promise;
  });
  await gateway.start();
  return { clock, gateway, kb, answers, facts, of: (type: Fact['type']) => facts.filter((fact) => fact.type === type) };
};

describe('the watch of a child', () => {
  it('[V-6] scenario 31: given twice tells its death once', async () => {
    const { root, clock, crash, notices, watcher } = startWatched();
    root.monitor('a', watcher);
    root.monitor('a', watcher);
    crash('a');
    await clock.advance(100);
    crash('a');
    await clock.settle();
    expect(notices).toEqual([notice]);
  });

  it('[V-6] scenario 31: of one that is dead tells it at once, without any time passing', async () => {
    const { root, crash, notices, watcher } = startWatched();
    crash('a');
    root.monitor('a', watcher);
    await Promise.resolve();
    expect(notices).toEqual([notice]);
  });

  it('[V-6] scenario 31: that was ended before the death tells nothing', async () => {
    const { root, clock, crash, notices, watcher } = startWatched();
    root.monitor('a', watcher)();
    crash('a');
    await clock.settle();
    expect(notices).toEqual([]);
  });
});

describe('a death nobody watches', () => {
  it('[V-7] scenario 32: is told as a fact, and its supervisor answers it', async () => {
    const { clock, crash, told, node } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    expect(told('child.crashed')).toMatchObject([{ child: 'a', incarnation: 1, error: 'boom' }]);
    await clock.advance(100);
    expect(node('a')?.state).toBe('running');
  });

  it('[V-7] scenario 32: never reaches the host, also where nobody listens to facts', async () => {
    const uncaught = vi.fn<(error: Error) => void>();
    process.on('uncaughtException', uncaught);
    onTestFinished(() => void process.off('uncaughtException', uncaught));
    const { root, clock, crash } = startRoot([{ id: 'a', logic: worker }], { facts: undefined, onEmit: undefined });
    crash('a');
    await clock.advance(100);
    // XState reports on the next turn of the real loop.
    await new Promise((resolve) => setTimeout(resolve));
    expect(uncaught).not.toHaveBeenCalled();
    expect(root.ref('a')).toBeDefined();
  });

  it.each([
    ['a promise', fromPromise(() => Promise.reject(new Error('inner')))],
    ['a callback', fromCallback(({ receive }) => receive(boom))],
    ['a machine', worker],
  ])(
    '[V-7] scenario 32: of %s takes the machine along that invoked it and does not handle it',
    async (_name, inner) => {
      const outer = setup({ actors: { inner } }).createMachine({
        invoke: { src: 'inner', id: 'inner' },
        on: { crash: { actions: ({ self }) => self.getSnapshot().children['inner']?.send({ type: 'crash' }) } },
      });
      const { root, clock, told, crash } = startRoot([{ id: 'a', logic: outer, restart: 'temporary' }]);
      crash('a');
      await clock.settle();
      expect(told('child.crashed')).toMatchObject([{ child: 'a' }]);
      expect(root.count().specs).toBe(0);
    },
  );
});

describe('a question', () => {
  it('[V-6] scenario 33: to a dead child is refused at once, and told', async () => {
    const { root, crash, told } = startRoot([{ id: 'a', logic: worker }]);
    crash('a');
    expect(root.send('a', { type: 'ask' })).toBe(false);
    expect(told('message.dead_letter')).toMatchObject([{ to: 'a', message: 'ask' }]);
  });

  it('[I-1] [I-2] scenario 33: to a gateway or a session that has stopped is answered at once, not after its limit', async () => {
    const { gateway, kb } = await startGateway();
    const session = gateway.session('agent:main', { onMessage: () => 'fine' });
    await gateway.stop();
    expect(await kb.call('ask')).toMatchObject({ ok: false, failure: { attempts: 0 } });
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'stopped' });
  });

  it('[M-6] scenario 33: is answered when what was asked dies, not after its limit', async () => {
    const { clock, integration, path, attempt, facts } = startIntegration();
    const call = integration.call('ask', { effect: 'mutating' });
    await clock.advance(1000);
    path.crashed({ kind: 'crash', reason: 'connection_lost', message: 'gone', outcome: 'unknown' });
    expect(await isSettled(call)).toBe(true);
    attempt(0).resolve('late');
    await clock.settle();
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'crash', outcome: 'unknown' } });
    expect(facts.of('call.late')).toHaveLength(1);
  });

  it('[I-1] [I-3] scenario 33: answered after its limit is a late answer, told once and delivered to nobody', async () => {
    const { clock, kb, answers, of } = await startGateway();
    const call = kb.call('ask', { attemptMs: 1000, maxAttempts: 1 });
    await clock.advance(1000);
    const outcome = await call;
    answers[0]?.resolve('late');
    answers[0]?.resolve('later');
    await clock.advance(100_000);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timeout' } });
    expect(await call).toBe(outcome);
    expect(of('call.late')).toMatchObject([{ integration: 'kb', ok: true }]);
  });
});

describe('a timer of a crashed incarnation', () => {
  it('[V-7] scenario 34: never fires into the next one, nor into another child', async () => {
    const listener = setup({ types: { context: {} as { heard: number } } }).createMachine({
      context: { heard: 0 },
      on: { alarm: { actions: assign({ heard: ({ context }) => context.heard + 1 }) } },
    });
    const caller = setup({}).createMachine({
      on: {
        arm: { actions: sendTo(({ system }) => system.get('listener'), { type: 'alarm' }, { delay: 500 }) },
        crash: { actions: boom },
      },
      initial: 'waits',
      states: { waits: { after: { 500: 'rang' } }, rang: {} },
    });
    const { root, clock, crash, node } = startRoot([
      { id: 'listener', logic: listener, systemId: 'listener' },
      { id: 'a', logic: caller },
    ]);
    root.send('a', { type: 'arm' });
    await clock.advance(450);
    crash('a');
    await clock.advance(100);
    await clock.advance(499);
    expect(root.ref('listener')?.getSnapshot()).toMatchObject({ context: { heard: 0 } });
    expect(node('a')).toMatchObject({ incarnation: 2, machineState: 'waits' });
    await clock.advance(1);
    expect(node('a')?.machineState).toBe('rang');
  });
});
