import { describe, expect, it } from 'vitest';
import { CallCounter } from '../../../src/calls/recorder/callCounter.ts';
import { PlainCalls } from '../../../src/calls/plainCall.ts';
import { FlightRecorder } from '../../../src/calls/recorder/flightRecorder.ts';
import { StartSteps } from '../../../src/calls/startSteps.ts';
import type { Fact, FactType } from '../../../src/policy/facts/facts.ts';
import type { FailureKind } from '../../../src/policy/failures/failure.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import { seededRandom } from '../../../testing/random.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const kinds: readonly FailureKind[] = ['transient', 'timeout', 'permanent', 'rate_limit', 'auth', 'crash', 'cancelled'];

/** Facts that a listener hears, in which changes of state may be of no interest. */
class HeardFacts extends RecordedFacts {
  readonly #unwanted: FactType | undefined;
  heard: (fact: Fact) => void = () => undefined;

  constructor(unwanted: FactType | undefined) {
    super();
    this.#unwanted = unwanted;
  }

  override tell(fact: Fact): void {
    super.tell(fact);
    this.heard(fact);
  }

  override wants(type?: FactType): boolean {
    return type !== this.#unwanted;
  }
}

/** All that can be seen of one scenario, in order: what the operation and the callers saw, the facts, the counts, the flight record, the machine. */
async function play(seed: number, byStep: boolean): Promise<unknown[]> {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const seen: unknown[] = [];
  const pending: { resolve: (value: string) => void; reject: (error: unknown) => void }[] = [];
  const facts = new HeardFacts((['integration.changed', 'call.succeeded', undefined] as const)[seed % 3]);
  const statistics = new CallCounter({ counted: () => seen.push('counted') });
  const policy = {
    maxInFlight: 6,
    queueLength: 3,
    abortGraceMs: 300,
    limits: { idleMs: 3000, attemptMs: 4000, overallMs: 9000 },
    retry: { maxAttempts: 1 + below(3) },
    breaker: { consecutiveFailures: 4, resetTimeoutMs: 400, windowMs: 5000 },
  };
  const recorder = new FlightRecorder(resolvePolicy('kb', policy));
  const started = startIntegration(
    policy,
    (input, context) => {
      seen.push({ begins: input, attempt: context.attempt });
      const how = input.split(' ')[1];
      if (how === 'throws') throw fault('transient');
      if (how === 'nested') call('later');
      if (how === 'signals') context.signal.addEventListener('abort', () => seen.push({ aborted: input }));
      if (how === 'once' || how === 'nested') return `at once ${input}`;
      if (how === 'soon') return Promise.resolve(`soon ${input}`);
      return new Promise<string>((resolve, reject) => pending.push({ resolve, reject }));
    },
    { facts, statistics, recorder, byStep, toolOf: (input) => (seed % 2 === 0 ? input.split(' ')[1] : undefined) },
  );
  const { integration, path, clock } = started;
  const controllers = Array.from({ length: 3 }, () => new AbortController());
  let made = 0;
  function call(how: string): void {
    const number = made++;
    const dice = below(9);
    const options = {
      ...(dice === 0 && { signal: controllers[below(3)]?.signal }),
      ...(dice === 1 && { overallMs: 200 + below(2000) }),
      ...(dice === 2 && { fallback: () => 'instead' }),
      ...(dice === 3 && { scope: 'one' }),
      ...(dice === 4 && { effect: 'readOnly' as const, label: 'labelled' }),
    };
    const input = `${number} ${how}`;
    if (dice === 5) {
      const settings = {
        ...path.policy.limits,
        retry: path.policy.retry,
        effect: undefined,
        label: undefined,
        session: 's',
      };
      path.start(input, { ...settings, signal: undefined, fallback: undefined }, (outcome) => {
        seen.push({ settled: input, outcome });
        if (number % 3 === 0) call('once');
      });
    } else
      void integration
        .call(input, dice > 4 ? undefined : options)
        .then((outcome) => seen.push({ answered: input, outcome }));
  }
  facts.heard = ({ type }) => {
    if ((type === 'call.succeeded' || type === 'call.failed') && made % 7 === 0) call('soon');
  };
  const releases: (() => void)[] = [];
  const hows = ['later', 'later', 'soon', 'once', 'soon', 'soon', 'later', 'nested', 'signals', 'throws'];
  for (let step = 0; step < 120; step++) {
    const dice = below(24);
    if (dice < 11) for (let calls = 1 + below(3); calls > 0; calls--) call(hows[below(hows.length)] ?? 'soon');
    else if (dice < 17) {
      const [work] = pending.splice(below(pending.length || 1), 1);
      if (random() < 0.85) work?.resolve('fine');
      else
        work?.reject(
          fault(kinds[below(kinds.length)] ?? 'unknown', { retryAfterMs: random() < 0.3 ? 700 : undefined }),
        );
    } else if (dice < 20) await clock.advance(below(900));
    else if (dice === 20) controllers[below(3)]?.abort(new Error('aborted'));
    else if (dice === 21) {
      if (integration.state === 'crashed') path.restarted();
      else if (random() < 0.2) path.crashed(fault('crash').facts);
    } else if (dice === 22) {
      if (random() < 0.5) releases.push(integration.breaker.of('later').isolate());
      else releases.pop()?.();
    } else if (random() < 0.3) integration.breaker.reset();
    if (step === 110 && seed % 4 === 0) path.drain({ until: clock.now() + 5000, ended: () => seen.push('ended') });
    if (random() < 0.6) await clock.settle();
    seen.push({ step, state: path.link.lastState, stats: path.stats });
  }
  await clock.advance(20_000);
  path.stop();
  await clock.settle();
  const flight = path.takeFlight(0);
  return [...seen, ...facts.all, statistics.take(), flight, clock.pending, started.ref.getSnapshot().context];
}

describe('a plain call', () => {
  it('[U-13] [M-10] goes as by its steps: all scenarios have the same work, events, statistics, records and results both ways', async () => {
    let made = 0;
    let byStep = 0;
    const { stackTraceLimit } = Error;
    // Stacks differ by the line of this test.
    Error.stackTraceLimit = 0;
    const { start } = PlainCalls.prototype;
    const { start: startByStep } = StartSteps.prototype;
    PlainCalls.prototype.start = function (...given) {
      made++;
      return start.apply(this, given);
    };
    StartSteps.prototype.start = function (...given) {
      byStep++;
      return startByStep.apply(this, given);
    };
    try {
      for (let seed = 1; seed <= 100; seed++) {
        const plain = await play(seed, false);
        const calls = { made, byStep };
        expect(plain, `seed ${seed}`).toEqual(await play(seed, true));
        ({ made, byStep } = calls);
      }
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
      PlainCalls.prototype.start = start;
      StartSteps.prototype.start = startByStep;
    }
    expect(made - byStep).toBeGreaterThan(1500);
  });
});
