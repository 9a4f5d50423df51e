import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../src/calls/callOptions.ts';
import { isSettled } from '../support/deferred.ts';
import { ReactingFacts } from '../support/reactingFacts.ts';
import { fault, startIntegration } from '../support/startIntegration.ts';

type Options = CallOptions<string, string>;

const held: Options = { scope: 'chat', maxAttempts: 1 };
const replacing: Options = { ...held, replace: true };
const graceMs = 1000;

/** An integration with one call under way that holds the scope `chat`. */
function startHeld(options: Options = held) {
  const started = startIntegration({ abortGraceMs: graceMs });
  const first = started.integration.call('first', options);
  return { ...started, first, call: started.integration.call.bind(started.integration) };
}

describe('a scope', () => {
  it('[S-6] refuses a second call at once while the first is under way', async () => {
    const { call, seen } = startHeld();
    expect(await call('second', held)).toMatchObject({
      ok: false,
      failure: {
        kind: 'too_many_requests',
        reason: 'scope_busy',
        outcome: 'not_started',
        attempts: 0,
        retryable: true,
      },
    });
    expect(seen.map(({ input }) => input)).toEqual(['first']);
  });

  it('[S-6] [I-4] tells of its refusals once per episode', async () => {
    const { call, facts, integration } = startHeld();
    await Promise.all([call('second', held), call('third', held)]);
    expect(facts.of('call.refused')).toHaveLength(1);
    expect(integration.stats.refused).toBe(2);
  });

  it('[S-6] leaves other scopes, and calls without one, alone', () => {
    const { call, seen } = startHeld();
    void call('other', { ...held, scope: 'another' });
    void call('none', { maxAttempts: 1 });
    expect(seen.map(({ input }) => input)).toEqual(['first', 'other', 'none']);
  });

  it('[S-6] is free again when its call has ended', async () => {
    const { call, attempt, first } = startHeld();
    attempt(0).resolve('done');
    await first;
    const second = call('second', held);
    attempt(1).resolve('done too');
    expect(await second).toMatchObject({ ok: true, value: 'done too' });
  });

  it('[S-6] is held by a call that waits for its next attempt', async () => {
    const { call, attempt, clock } = startHeld({ scope: 'chat' });
    attempt(0).reject(fault('transient'));
    await clock.settle();
    expect(await call('second', held)).toMatchObject({ failure: { reason: 'scope_busy' } });
  });
});

describe('a call that replaces another', () => {
  it('[S-6] ends it as cancelled and replaced, and aborts its work', async () => {
    const { call, attempt, first } = startHeld();
    const { signal } = attempt(0).context;
    void call('second', replacing);
    expect(await first).toMatchObject({
      ok: false,
      failure: { kind: 'cancelled', reason: 'replaced', outcome: 'cancelled', retryable: false },
    });
    expect(signal.aborted).toBe(true);
  });

  it('[S-6] starts when the work of the other has ended, not before', async () => {
    const { call, attempt, seen, clock } = startHeld();
    const second = call('second', replacing);
    await clock.advance(graceMs - 1);
    expect(seen).toHaveLength(1);
    attempt(0).reject(fault('cancelled'));
    await clock.settle();
    attempt(1).resolve('mine');
    expect(await second).toMatchObject({ ok: true, value: 'mine' });
  });

  it('[S-6] is refused when the work of the other outlives its grace', async () => {
    const { call, seen, clock } = startHeld();
    const second = call('second', replacing);
    await clock.advance(graceMs);
    expect(await second).toMatchObject({ failure: { kind: 'too_many_requests', reason: 'scope_busy', attempts: 0 } });
    expect(seen).toHaveLength(1);
  });

  it('[S-6] [I-1] waits no longer than its own deadline', async () => {
    const { call, clock } = startHeld();
    const second = call('second', { ...replacing, overallMs: 300 });
    await clock.advance(299);
    expect(await isSettled(second)).toBe(false);
    await clock.advance(1);
    expect(await second).toMatchObject({ failure: { kind: 'timeout', outcome: 'not_started' } });
  });

  it('[S-6] is itself replaced by a third, which runs alone', async () => {
    const { call, attempt, seen, clock } = startHeld();
    const second = call('second', replacing);
    const third = call('third', replacing);
    expect(await second).toMatchObject({ failure: { reason: 'replaced', outcome: 'not_started', attempts: 0 } });
    attempt(0).reject(fault('cancelled'));
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['first', 'third']);
    attempt(1).resolve('last');
    expect(await third).toMatchObject({ ok: true });
  });

  it('[S-6] ends one that waits for its next attempt, which is never made', async () => {
    const { call, attempt, seen, first, clock } = startHeld({ scope: 'chat' });
    attempt(0).reject(fault('transient'));
    await clock.settle();
    void call('second', replacing);
    expect(await first).toMatchObject({ failure: { reason: 'replaced', attempts: 1 } });
    await clock.advance(60_000);
    expect(seen.map(({ input }) => input)).toEqual(['first', 'second']);
  });

  it('[S-6] gives way to one that is made by who hears of the end of the first', async () => {
    const facts = new ReactingFacts();
    const { integration, seen, clock, attempt } = startIntegration({ abortGraceMs: graceMs }, undefined, { facts });
    void integration.call('first', held);
    facts.once('call.failed', () => void integration.call('newest', replacing));
    const second = integration.call('second', replacing);
    expect(await second).toMatchObject({ failure: { reason: 'replaced' } });
    attempt(0).reject(fault('cancelled'));
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['first', 'newest']);
  });

  it('[S-6] starts at once when there is nothing to replace', () => {
    const { integration, seen } = startIntegration();
    void integration.call('only', replacing);
    expect(seen).toHaveLength(1);
  });
});

describe('work that goes on in a scope', () => {
  it('[S-6] [I-1] is waited for by the next call after its own was settled at its deadline', async () => {
    const { call, attempt, seen, first, clock } = startHeld({ ...held, attemptMs: 100 });
    await clock.advance(100);
    expect(await first).toMatchObject({ failure: { kind: 'timeout' } });
    const second = call('second', held);
    await clock.settle();
    expect(seen).toHaveLength(1);
    attempt(0).reject(fault('cancelled'));
    await clock.settle();
    attempt(1).resolve('then');
    expect(await second).toMatchObject({ ok: true });
  });

  it('[S-6] is waited for by the next attempt of the same call', async () => {
    const { attempt, seen, clock } = startHeld({ scope: 'chat', attemptMs: 100, effect: 'readOnly' });
    await clock.advance(100 + 1000 - 1);
    expect(seen).toHaveLength(1);
    await clock.advance(1);
    expect(seen).toHaveLength(1);
    attempt(0).reject(fault('cancelled'));
    await clock.settle();
    expect(seen).toHaveLength(2);
  });
});

describe('work that never ends', () => {
  it('[S-6] keeps its scope until its integration is reset, and once written off', async () => {
    const { call, attempt, seen, clock, integration } = startHeld({ ...held, attemptMs: 100 });
    await clock.advance(100);
    integration.breaker.reset();
    const second = call('second', held);
    expect(seen).toHaveLength(1);
    await clock.advance(graceMs);
    expect(await second).toMatchObject({ failure: { reason: 'scope_busy' } });
    const third = call('third', held);
    integration.breaker.reset();
    expect(seen.map(({ input }) => input)).toEqual(['first', 'third']);
    attempt(0).resolve('at last');
    await clock.settle();
    expect(await call('fourth', held)).toMatchObject({ failure: { reason: 'scope_busy' } });
    attempt(1).resolve('mine');
    expect(await third).toMatchObject({ ok: true, value: 'mine' });
  });

  it('[S-6] gives its scope back when what is behind its integration has restarted', async () => {
    const { call, seen, clock, path } = startHeld({ ...held, attemptMs: 100 });
    await clock.advance(100 + graceMs);
    path.crashed({ kind: 'crash', message: 'gone', outcome: 'unknown' });
    path.restarted();
    void call('second', held);
    expect(seen).toHaveLength(2);
  });
});

describe('cancelling a scope', () => {
  it('[S-6] ends its call, and says whether there was one', async () => {
    const { integration, first, attempt } = startHeld();
    expect(integration.cancelScope('another')).toBe(false);
    expect(integration.cancelScope('chat')).toBe(true);
    expect(await first).toMatchObject({
      failure: { kind: 'cancelled', message: 'Cancelled: the scope chat was cancelled', outcome: 'cancelled' },
    });
    expect(attempt(0).context.signal.aborted).toBe(true);
    expect(integration.cancelScope('chat')).toBe(false);
  });

  it('[S-6] keeps the reason', async () => {
    const { integration, first } = startHeld();
    const reason = new Error('the user closed the chat');
    integration.cancelScope('chat', reason);
    expect(await first).toMatchObject({ failure: { cause: reason, message: 'Cancelled: the user closed the chat' } });
  });

  it('[S-6] refuses what is no name', () => {
    const { integration } = startHeld();
    expect(() => integration.cancelScope('')).toThrow('Expected `scope` to be a non-empty string');
  });
});

it.each([
  [{ scope: '' }, 'Expected `options.scope` to be a non-empty string, got ""'],
  [{ scope: 'a', replace: 'yes' }, 'Expected `options.replace` to be true or false, got "yes"'],
  [{ replace: true }, 'Expected `options.scope` beside `options.replace`'],
])('[S-6] a call with %o is refused', (options, message) => {
  const { integration } = startIntegration();
  expect(() => integration.call('x', options as Options)).toThrow(message);
});

it('[S-6] an open circuit refuses a call of a scope that still ends its work', async () => {
  const { call, clock, integration } = startHeld({ ...held, attemptMs: 100 });
  await clock.advance(100);
  integration.breaker.isolate();
  expect(await call('second', held)).toMatchObject({ failure: { kind: 'circuit_open' } });
});

it('[S-6] [M-3] a probe waits for the work of its scope', async () => {
  const breaker = { consecutiveFailures: 1, resetTimeoutMs: 50 };
  const { integration, attempt, seen, clock } = startIntegration({ abortGraceMs: graceMs, attemptMs: 100, breaker });
  void integration.call('first', held);
  await clock.advance(150);
  expect(integration.breaker.state).toBe('open');
  const second = integration.call('second', held);
  expect(seen).toHaveLength(1);
  attempt(0).reject(fault('cancelled'));
  await clock.settle();
  attempt(1).resolve('alive');
  expect(await second).toMatchObject({ ok: true });
  expect(integration.breaker.state).toBe('closed');
});

it('[S-6] [I-3] nothing waits in a scope when its integration stops', async () => {
  const { call, path, deadlines } = startHeld();
  const second = call('second', replacing);
  path.stop();
  expect(await second).toMatchObject({ failure: { kind: 'cancelled', reason: 'stopped' } });
  expect(deadlines.size).toBe(0);
});
