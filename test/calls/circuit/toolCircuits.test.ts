import { describe, expect, it } from 'vitest';
import { deferred } from '../../support/deferred.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';

const policy = {
  limits: { idleMs: 100, attemptMs: 1000, overallMs: 60_000 },
  retry: { maxAttempts: 1 },
  breaker: { consecutiveFailures: 3, resetTimeoutMs: 60_000 },
} as const;

/** Inputs are `TOOL` or `TOOL:ANYTHING`; `-` is no tool. */
const toolOf = (input: string): string | undefined => (input === '-' ? undefined : input.split(':')[0]);

/** Tools of a function: nobody can be asked for a sign of life. */
const startFunction = (more: object = {}): Started => startIntegration({ ...policy, ...more }, undefined, { toolOf });

/** Tools of a server that answers its ping, or hangs as a whole. */
function startServer(alive: () => boolean | Promise<boolean> = () => true, more: object = {}): Started {
  return startIntegration({ ...policy, ...more }, undefined, { toolOf, onSilence: async () => alive() });
}

/** Calls of a tool that hang until their limit, one after the other. */
async function hang(started: Started, input: string, count = 1): Promise<void> {
  for (let each = 0; each < count; each++) {
    const call = started.integration.call(input);
    await started.clock.advance(100);
    await call;
    await started.clock.settle();
  }
}

/** A call that is answered at once. */
async function answer(started: Started, input: string): Promise<unknown> {
  const before = started.seen.length;
  const call = started.integration.call(input);
  await started.clock.settle();
  started.seen[before]?.resolve('answer');
  return call;
}

const opened = ({ facts }: Started): unknown[] => facts.of('breaker.opened').map(({ tool }) => tool ?? 'all');

describe('a tool that hangs on a server that answers its ping', () => {
  it('[M-15] opens its own circuit, and that of nobody else', async () => {
    const started = startServer();
    await hang(started, 'slow', 2);
    expect(started.integration.breaker.of('slow').state).toBe('closed');
    await hang(started, 'slow');
    expect(started.integration.breaker.of('slow').state).toBe('open');
    expect(started.integration.breaker.state).toBe('closed');
    expect(started.facts.of('breaker.opened')).toMatchObject([
      {
        ...{ integration: 'kb', tool: 'slow', openForMs: 60_000, kind: 'timeout' },
        rule: { name: 'consecutive_failures', failures: 3, limit: 3 },
      },
    ]);
    expect(started.path.openTools).toMatchObject([{ tool: 'slow', rule: { name: 'consecutive_failures' } }]);
    expect(await answer(started, 'fast')).toEqual({ ok: true, value: 'answer' });
  });

  it('[M-15] has its calls refused at once, by its name, with the cause and the time of the next try', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    await started.clock.advance(10_000);
    const outcome = await started.integration.call('slow:again');
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'circuit_open', outcome: 'not_started', attempts: 0, retryAfterMs: 50_000 },
    });
    const message = outcome.ok ? '' : outcome.failure.message;
    expect(message).toContain('the tool slow of kb');
    expect(message).toContain('100ms');
    expect(started.seen).toHaveLength(3);
  });

  it('[M-15] is told as refused once an episode, however many others are admitted meanwhile', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    for (let round = 0; round < 5; round++) {
      await started.integration.call('slow');
      await answer(started, 'fast');
    }
    expect(started.facts.of('call.refused')).toHaveLength(1);
    await started.clock.advance(60_000);
    await hang(started, 'slow');
    await started.integration.call('slow');
    expect(started.facts.of('call.refused').map(({ refused }) => refused)).toEqual([0, 4]);
  });

  it('[M-15] takes down nothing of the server by calls in the middle of others', async () => {
    const started = startServer();
    for (let round = 0; round < 10; round++) {
      await hang(started, 'slow');
      await hang(started, 'stuck');
    }
    expect(started.integration.breaker.state).toBe('closed');
    expect(opened(started)).toEqual(['slow', 'stuck']);
  });

  it('[M-15] is tried by one call after the reset timeout; answered, its circuit closes', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    await started.clock.advance(60_000);
    const trial = started.integration.call('slow:trial');
    await started.clock.settle();
    expect(started.integration.breaker.of('slow').state).toBe('half-open');
    expect(await started.integration.call('slow:other')).toMatchObject({ failure: { kind: 'circuit_open' } });
    started.seen.at(-1)?.resolve('well again');
    expect(await trial).toEqual({ ok: true, value: 'well again' });
    expect(started.integration.breaker.of('slow').state).toBe('closed');
    expect(started.facts.of('breaker.half_opened')).toMatchObject([{ tool: 'slow' }]);
    expect(started.facts.of('breaker.closed')).toMatchObject([{ integration: 'kb', tool: 'slow' }]);
  });

  it('[M-15] [O-9] has its calls refused while one tries, without a time that nobody knows', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    await started.clock.advance(60_000);
    void started.integration.call('slow');
    const outcome = await started.integration.call('slow:again');
    expect(outcome.ok ? '' : outcome.failure.message).toMatch(/100ms; another call tries it now$/);
  });

  it('[M-15] opens it again when the trial hangs too, at its first failure', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    await started.clock.advance(60_000);
    await hang(started, 'slow');
    expect(opened(started)).toEqual(['slow', 'slow']);
    expect(started.integration.breaker.of('slow').state).toBe('open');
  });

  it('[M-15] is no failure of the tool when the trial is cancelled: the next call tries', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    await started.clock.advance(60_000);
    const controller = new AbortController();
    const trial = started.integration.call('slow:trial', { signal: controller.signal });
    await started.clock.settle();
    controller.abort();
    await trial;
    expect(await answer(started, 'slow:next')).toMatchObject({ ok: true });
  });

  it('[M-15] has its streak ended by an answer, and by an error of its own', async () => {
    const started = startServer();
    await hang(started, 'slow', 2);
    await answer(started, 'slow');
    await hang(started, 'slow', 2);
    const failing = started.integration.call('slow');
    await started.clock.settle();
    started.seen.at(-1)?.reject(fault('permanent'));
    await failing;
    await hang(started, 'slow', 2);
    expect(opened(started)).toEqual([]);
  });

  it('[M-15] [M-5] has its calls in backoff end when its circuit opens, with their last failure as the cause', async () => {
    const retry = { maxAttempts: 3, backoff: { initialMs: 10_000, maxMs: 10_000 } };
    const started = startServer(() => true, { retry, limits: { ...policy.limits, overallMs: 600_000 } });
    const waiting = started.integration.call('slow:waits', { effect: 'readOnly' });
    await started.clock.settle();
    started.seen[0]?.reject(fault('transient', { outcome: 'failed' }));
    await started.clock.settle();
    expect(started.integration.stats.waiting).toBe(1);
    for (let each = 0; each < 3; each++) {
      const call = started.integration.call('slow', { maxAttempts: 1 });
      await started.clock.advance(100);
      await call;
    }
    expect(await waiting).toMatchObject({
      failure: { kind: 'circuit_open', attempts: 1, cause: { kind: 'transient' } },
    });
  });

  it('[M-15] is counted also where the session’s watchdog cut the call', async () => {
    const started = startServer();
    for (let each = 0; each < 3; each++) {
      const call = started.path.start(
        'slow',
        { ...policy.limits, retry: started.path.policy.retry, ...noMore },
        () => undefined,
      );
      await started.clock.settle();
      started.path.end(call, { kind: 'watchdog', message: 'too long', outcome: 'unknown' });
      await started.clock.settle();
    }
    expect(opened(started)).toEqual(['slow']);
  });

  it('[M-15] does not take the turn of a probe of the server by its own circuit', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    for (let each = 0; each < 3; each++) {
      const call = started.integration.call('fast');
      await started.clock.settle();
      started.seen.at(-1)?.reject(fault('unknown'));
      await call;
    }
    expect(started.integration.state).toBe('open');
    await started.clock.advance(59_999);
    await started.clock.advance(1);
    started.integration.breaker.of('slow').isolate();
    expect(await started.integration.call('slow')).toMatchObject({ failure: { reason: 'isolated' } });
    expect(await answer(started, 'fast')).toMatchObject({ ok: true });
    expect(started.integration.breaker.state).toBe('closed');
  });
});

const noMore = { effect: undefined, label: undefined, session: undefined, signal: undefined, fallback: undefined };

describe('a tool that hangs on a server that hangs', () => {
  it('[M-15] [M-4] counts for nobody: that is one crash', async () => {
    const inquiry = deferred<boolean>();
    const started = startServer(() => inquiry.promise);
    void Promise.all(['a', 'a', 'a', 'b', 'b', 'b'].map((tool) => started.integration.call(tool)));
    await started.clock.advance(100);
    started.path.crashed(fault('crash').facts);
    inquiry.resolve(false);
    await started.clock.settle();
    started.path.restarted();
    expect(opened(started)).toEqual([]);
    expect(await answer(started, 'a')).toMatchObject({ ok: true });
  });

  it('[M-15] has its circuit closed by the restart of the server', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    started.path.crashed(fault('crash').facts);
    started.path.restarted();
    expect(started.integration.breaker.of('slow').state).toBe('closed');
    expect(await answer(started, 'slow')).toMatchObject({ ok: true });
  });

  it('[M-15] waits for the restart though its circuit was open', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    started.path.crashed(fault('crash').facts);
    const call = started.integration.call('slow');
    await started.clock.settle();
    started.path.restarted();
    await started.clock.settle();
    started.seen.at(-1)?.resolve('answer');
    expect(await call).toMatchObject({ ok: true });
  });
});

describe('a tool that hangs on a server whose circuit is half-open', () => {
  it('[M-15] says nothing of the server: the next call tries it', async () => {
    const started = startServer();
    for (let each = 0; each < 3; each++) {
      const call = started.integration.call('fast');
      await started.clock.settle();
      started.seen.at(-1)?.reject(fault('unknown'));
      await call;
    }
    await started.clock.advance(60_000);
    await hang(started, 'slow');
    expect(await answer(started, 'fast')).toMatchObject({ ok: true });
    expect(started.integration.breaker.state).toBe('closed');
  });
});

describe('a tool of a function that hangs', () => {
  it('[M-15] counts for itself when another call was answered meanwhile', async () => {
    const started = startFunction();
    for (let each = 0; each < 3; each++) {
      const slow = started.integration.call('slow');
      await started.clock.advance(50);
      await answer(started, 'fast');
      await started.clock.advance(50);
      await slow;
    }
    expect(opened(started)).toEqual(['slow']);
    expect(started.integration.breaker.state).toBe('closed');
  });

  it('[M-15] counts for the integration when none was', async () => {
    const started = startFunction();
    await answer(started, 'fast');
    await hang(started, 'slow', 3);
    expect(opened(started)).toEqual(['all']);
  });

  it.each([
    ['a', 'a'],
    ['-', 'all'],
  ])('[M-15] %s counts for %s at its first limit', async (tool, circuit) => {
    const started = startFunction({ breaker: { consecutiveFailures: 1 } });
    const slow = started.integration.call(tool);
    await started.clock.advance(50);
    await answer(started, 'fast');
    await started.clock.advance(50);
    await slow;
    expect(opened(started)).toEqual([circuit]);
  });

  it('[M-15] [M-5] ends its call at the failure that opens the circuit, instead of trying again', async () => {
    const started = startFunction({ retry: { maxAttempts: 3 } });
    const rounds: unknown[] = [];
    for (let each = 0; each < 3; each++) {
      const slow = started.integration.call('slow', { effect: 'readOnly', maxAttempts: each < 2 ? 1 : 3 });
      await started.clock.advance(50);
      await answer(started, 'fast');
      await started.clock.advance(50);
      rounds.push(await slow);
    }
    expect(rounds[2]).toMatchObject({ failure: { kind: 'circuit_open', attempts: 1, cause: { kind: 'timeout' } } });
  });

  it('[M-15] was ended by who heard that it is tried: another call tries', async () => {
    const started = startServer();
    await hang(started, 'slow', 3);
    await started.clock.advance(60_000);
    const controller = new AbortController();
    const { facts } = started;
    const tell = facts.tell.bind(facts);
    facts.tell = (fact) => {
      tell(fact);
      if (fact.type === 'breaker.half_opened') controller.abort();
    };
    expect(await started.integration.call('slow', { signal: controller.signal })).toMatchObject({
      failure: { kind: 'cancelled' },
    });
    expect(started.integration.stats).toMatchObject({ attempts: 0, waiting: 0 });
    expect(await answer(started, 'slow:next')).toMatchObject({ ok: true });
  });

  it('[M-15] is as no tool where its input cannot be read', async () => {
    const started = startIntegration(policy, undefined, {
      toolOf: () => {
        throw new Error('no');
      },
    });
    await hang(started, 'slow', 3);
    expect(opened(started)).toEqual(['all']);
  });
});

describe('the breaker of a tool', () => {
  it('[M-15] isolates it until every release, and no other', async () => {
    const started = startServer();
    const { breaker } = started.integration;
    const releases = [breaker.of('slow').isolate(), breaker.of('slow').isolate()];
    expect(breaker.of('slow').state).toBe('isolated');
    expect(await started.integration.call('slow')).toMatchObject({
      failure: { kind: 'circuit_open', reason: 'isolated', message: 'the tool slow of kb is isolated' },
    });
    expect(await answer(started, 'fast')).toMatchObject({ ok: true });
    releases[0]?.();
    releases[0]?.();
    expect(breaker.of('slow').state).toBe('isolated');
    releases[1]?.();
    expect(breaker.of('slow').state).toBe('closed');
    expect(opened(started)).toEqual(['slow']);
    expect(started.facts.of('breaker.closed')).toMatchObject([{ tool: 'slow' }]);
  });

  it('[M-15] is closed by its reset, and by that of the integration', async () => {
    const started = startServer();
    const { breaker } = started.integration;
    await hang(started, 'slow', 3);
    breaker.of('slow').reset();
    expect(breaker.of('slow').state).toBe('closed');
    breaker.of('slow').isolate();
    breaker.reset();
    expect(breaker.of('slow').state).toBe('closed');
    expect(await answer(started, 'slow')).toMatchObject({ ok: true });
  });

  it('[M-15] stays isolated over a restart of the server', async () => {
    const started = startServer();
    started.integration.breaker.of('slow').isolate();
    started.path.crashed(fault('crash').facts);
    started.path.restarted();
    expect(started.integration.breaker.of('slow').state).toBe('isolated');
  });

  it('[M-15] is one of 1,000 at most: the least recently used goes, and what is isolated stays', async () => {
    const started = startServer(() => true, { breaker: { consecutiveFailures: 1 }, maxInFlight: 2000 });
    started.integration.breaker.of('held').isolate();
    await hang(started, 'first');
    await hang(started, 'second');
    await started.integration.call('first');
    void Promise.all(Array.from({ length: 998 }, (_, index) => started.integration.call(`tool-${index}`)));
    await started.clock.advance(100);
    const { breaker } = started.integration;
    const states = ['held', 'first', 'second', 'tool-0', 'tool-997'].map((tool) => breaker.of(tool).state);
    expect(states).toEqual(['isolated', 'open', 'closed', 'open', 'open']);
    expect(started.facts.of('breaker.closed')).toMatchObject([{ tool: 'second' }]);
  });

  it('[M-15] refuses a name that is none', () => {
    const { breaker } = startServer().integration;
    expect(() => breaker.of('')).toThrow('`tool`');
  });
});

describe('an operator', () => {
  it('[M-15] [O-13] sees the open circuit of a tool, and has its next call let through', async () => {
    const started = startServer();
    const { path, integration, facts } = started;
    expect(path.openTools).toEqual([]);
    expect(integration.breaker.probe().ok).toBe(false);
    await hang(started, 'slow', 3);
    await started.clock.advance(10_000);
    expect(path.openTools).toMatchObject([{ tool: 'slow', circuit: 'open', probeInMs: 50_000 }]);
    expect(integration.breaker.probe({ by: 'pat' })).toEqual({
      ok: true,
      text: 'The next call of the tool slow of kb is let through as the probe.',
    });
    expect(facts.of('operator.probed')).toMatchObject([
      { integration: 'kb', tool: 'slow', how: 'next_call', by: 'pat' },
    ]);
    expect(path.openTools).toMatchObject([{ tool: 'slow', circuit: 'open', probeInMs: 0 }]);
    const probe = integration.call('slow');
    await started.clock.settle();
    expect(path.openTools).toEqual([{ tool: 'slow', circuit: 'half-open' }]);
    expect(integration.breaker.probe().text).toBe('The tool slow of kb is being tried already: one probe at a time.');
    started.seen.at(-1)?.resolve('answer');
    expect(await probe).toEqual({ ok: true, value: 'answer' });
    expect(path.openTools).toEqual([]);
  });

  it('[M-15] [O-13] is told that a tool which somebody holds open is not probed', () => {
    const { integration, path } = startServer();
    const release = integration.breaker.of('slow').isolate();
    expect(path.openTools).toEqual([{ tool: 'slow', circuit: 'isolated' }]);
    expect(integration.breaker.probe()).toEqual({
      ok: false,
      text: 'The tool slow of kb is held open by an operator, and is not probed: reset kb.',
    });
    release();
    expect(path.openTools).toEqual([]);
  });
});
