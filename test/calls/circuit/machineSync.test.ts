import { describe, expect, it } from 'vitest';
import type { FactType } from '../../../src/policy/facts/facts.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';

/** Facts of a gateway in which nobody listens to the states of integrations. */
class UnheardFacts extends RecordedFacts {
  override wants(type?: FactType): boolean {
    return type !== 'integration.changed';
  }
}

/** One answer and one failure within a second open its circuit. */
function start(facts: RecordedFacts = new UnheardFacts()): Started {
  return startIntegration(
    {
      maxAttempts: 1,
      breaker: { consecutiveFailures: 99, failureRatio: 0.5, minimumAttempts: 2, windowSize: 2, windowMs: 1000 },
    },
    (input) => {
      if (input === 'fail') throw fault('transient');
      return input === 'hang' ? new Promise(() => undefined) : 'answer';
    },
    { facts },
  );
}

/** Lets one call fail at this time, and says what the circuit made of it. */
async function failAt({ integration, clock }: Started, at: number): Promise<string> {
  await clock.advance(at - clock.now());
  await integration.call('fail');
  return integration.breaker.state;
}

/** Answers that come while the machine is left as it is, after the first one. */
async function answerTwice({ integration, clock }: Started): Promise<void> {
  await clock.settle();
  await integration.call('ask');
  await clock.advance(2);
  await integration.call('ask');
}

describe('an answer that the machine is not told of', () => {
  it.each([
    [1001, 'open'],
    [1003, 'closed'],
  ] as const)('[M-4] counts as of when it came: at %i ms the circuit is %s', async (at, state) => {
    const started = start();
    await answerTwice(started);
    expect(await failAt(started, at)).toBe(state);
  });

  it.each([
    [1001, 'open'],
    [1003, 'closed'],
  ] as const)('[M-4] counts so whoever asks for the state: at %i ms the circuit is %s', async (at, state) => {
    const started = start();
    await answerTwice(started);
    await started.clock.advance(2);
    expect(started.integration.state).toBe('idle');
    expect(await failAt(started, at)).toBe(state);
  });

  it.each([
    [999, 'open'],
    [1001, 'closed'],
  ] as const)('[M-4] counts so where every change is heard: at %i ms the circuit is %s', async (at, state) => {
    const started = start(new RecordedFacts());
    await started.integration.call('ask');
    expect(await failAt(started, at)).toBe(state);
  });
});

describe('an integration whose changes nobody hears', () => {
  it('[M-1] follows its calls on after somebody asked for its state', async () => {
    const started = start();
    const { integration, clock, ref } = started;
    await clock.settle();
    await integration.call('ask');
    expect(integration.state).toBe('idle');
    await integration.call('ask');
    await clock.advance(20);
    expect([ref.getSnapshot().value, clock.pending]).toEqual(['idle', 0]);
  });

  it('[M-1] is told late that its calls wait for another attempt, and at once where somebody asks', async () => {
    const { integration, clock, ref } = startIntegration(
      { retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 100 } } },
      () => {
        throw fault('transient');
      },
      { facts: new UnheardFacts() },
    );
    await clock.settle();
    const outcome = integration.call('fail');
    await clock.settle();
    expect(ref.getSnapshot().value).toBe('calling');
    expect(integration.state).toBe('backoff');
    await clock.advance(100);
    await outcome;
    await clock.advance(20);
    expect([ref.getSnapshot().value, clock.pending]).toEqual(['idle', 0]);
  });

  it('[M-1] is told that its calls wait, once they have for a moment', async () => {
    const { integration, clock, ref } = startIntegration(
      { retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 100 } } },
      () => {
        throw fault('transient');
      },
      { facts: new UnheardFacts() },
    );
    await clock.settle();
    void integration.call('fail');
    await clock.advance(20);
    expect(ref.getSnapshot().value).toBe('backoff');
    await clock.advance(100);
  });
});
