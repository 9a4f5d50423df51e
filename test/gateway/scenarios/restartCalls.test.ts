import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type FactType, type Gateway } from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { gone } from '../../actors/mcp/mcpHarness.ts';

const byOperator = { kind: 'cancelled', reason: 'restarted', outcome: 'unknown' };

function startGateway(): { gateway: Gateway; clock: SimulatedClock; told: (type: FactType) => readonly object[] } {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock });
  onTestFinished(async () => {
    const stopped = gateway.stop();
    await clock.advance(60_000);
    await stopped;
  });
  const facts: { readonly type: string }[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  return { gateway, clock, told: (type) => facts.filter((fact) => fact.type === type) };
}

describe('a restart by hand of a function', () => {
  it('[L-5] [I-1] ends the calls that hang in it with an outcome that says who did, and aborts their work', async () => {
    const { gateway, clock, told } = startGateway();
    const reasons: unknown[] = [];
    const slow = gateway.integration('slow', { effect: 'readOnly' }, (_input, { signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return new Promise(() => undefined);
    });
    await gateway.start();
    const hung = [slow.call('one'), slow.call('two')];
    gateway.restart('slow');
    const failure = { ...byOperator, message: 'slow was restarted by an operator', attempts: 1, retryable: true };
    expect(await Promise.all(hung)).toMatchObject([{ failure }, { failure }]);
    expect(reasons).toHaveLength(2);
    expect(told('operator.restarted')).toMatchObject([{ integration: 'slow', what: 'calls', calls: 2 }]);
    await clock.settle();
    expect([slow.state, slow.stats.attempts]).toEqual(['idle', 0]);
  });

  it('[L-5] [O-3] [M-4] counts for nothing: neither towards alerts nor for the circuit, which starts anew', async () => {
    const { gateway, clock, told } = startGateway();
    const failing = { fails: true };
    const kb = gateway.integration('kb', { policy: { retry: { maxAttempts: 1 } } }, () => {
      if (failing.fails) throw Object.assign(new Error('down'), { code: 'ECONNRESET' });
      return new Promise(() => undefined);
    });
    await gateway.start();
    for (let call = 0; call < 4; call++) await kb.call(undefined);
    failing.fails = false;
    const hung = kb.call(undefined);
    gateway.restart('kb');
    expect(await hung).toMatchObject({ failure: byOperator });
    expect(told('alert.raised')).toEqual([]);
    failing.fails = true;
    for (let call = 0; call < 4; call++) await kb.call(undefined);
    await clock.settle();
    expect(told('breaker.opened')).toEqual([]);
    expect(told('alert.raised')).toMatchObject([{ failures: 5, because: 'failures' }]);
  });

  it('[L-5] [M-3] ends the probe of a half-open circuit, and closes it', async () => {
    const { gateway, clock } = startGateway();
    let answer: Promise<unknown> = Promise.reject(new Error('down'));
    answer.catch(() => undefined);
    const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1 } };
    const kb = gateway.integration('kb', { policy }, () => answer);
    await gateway.start();
    await kb.call(undefined);
    answer = new Promise(() => undefined);
    await clock.advance(60_000);
    const probe = kb.call(undefined);
    expect(kb.state).toBe('half-open');
    gateway.restart('kb');
    expect(await probe).toMatchObject({ failure: byOperator });
    expect(kb.state).toBe('idle');
  });

  it('[L-5] leaves a call alone that waits for its next attempt', async () => {
    const { gateway, clock } = startGateway();
    let calls = 0;
    const kb = gateway.integration('kb', {}, () => {
      if (++calls === 1) throw Object.assign(new Error('down'), { code: 'ECONNRESET' });
      return 'up';
    });
    await gateway.start();
    const waiting = kb.call(undefined);
    await clock.settle();
    gateway.restart('kb');
    await clock.advance(2000);
    expect(await waiting).toEqual({ ok: true, value: 'up' });
  });

  it('[L-5] ends a hook that hangs, and its event goes on', async () => {
    const { gateway } = startGateway();
    gateway.hook('Stop', () => new Promise(() => undefined), { name: 'audit' });
    await gateway.start();
    const verdict = gateway.runHooks({ event: 'Stop' });
    gateway.restart('audit');
    expect(await verdict).toMatchObject({ decision: 'continue', reports: [{ failure: byOperator }] });
  });
});

describe('a restart by hand of a command', () => {
  it('[L-5] [I-3] ends the run that hangs, and its process', async () => {
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    const args = ['-e', 'console.log("up"); setInterval(() => undefined, 1000)'];
    const run = gateway.subprocess('endless', { command: process.execPath, args });
    await gateway.start();
    const started = gateway.wait('process.started');
    const hung = run.call({});
    const { pid } = await started;
    gateway.restart('endless');
    expect(await hung).toMatchObject({ failure: byOperator });
    await gone(pid);
  });
});
