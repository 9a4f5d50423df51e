import { describe, expect, it } from 'vitest';
import type { FactType } from '../../../src/policy/facts/facts.ts';
import type { FailureKind } from '../../../src/policy/failures/failure.ts';
import { seededRandom } from '../../../testing/random.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';

const kinds: readonly FailureKind[] = [
  'transient',
  'timeout',
  'permanent',
  'rate_limit',
  'quota',
  'auth',
  'unknown',
  'crash',
  'cancelled',
];

/** Facts of a gateway in which nobody listens to the states of integrations. */
class UnheardFacts extends RecordedFacts {
  override wants(type?: FactType): boolean {
    return type !== 'integration.changed';
  }
}

/** What the machine and the callers saw of one scenario, step by step. */
async function play(seed: number, everyEvent: boolean, heard?: boolean): Promise<{ trace: unknown[]; events: number }> {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const facts = heard === false ? new UnheardFacts() : undefined;
  const started = startIntegration(
    { maxInFlight: 3, queueLength: 2, breaker: { consecutiveFailures: 3, resetTimeoutMs: 2000, probes: 1 + below(2) } },
    undefined,
    {
      everyEvent,
      ...(facts !== undefined && { facts }),
      ...(seed % 3 === 0 && { probe: () => (random() < 0.5 ? 'pong' : Promise.reject(fault('transient'))) }),
    },
  );
  const { ref, path, clock } = started;
  let events = 0;
  const send = ref.send.bind(ref);
  ref.send = (event) => {
    events++;
    send(event);
  };
  let passing: Promise<void> | undefined;
  const advance = clock.advance.bind(clock);
  clock.advance = (ms) => (passing = advance(ms));
  const trace: unknown[] = [];
  const releases: (() => void)[] = [];
  for (let step = 0; step < 150; step++) {
    const what = takeStep(started, below, random, releases, trace);
    // With a timer more, steps that do not wait for one another would meet elsewhere in time.
    if (heard !== undefined) await passing;
    await clock.settle();
    // What nobody hears of is told when somebody asks.
    void path.link.state;
    trace.push({ step, what, state: ref.getSnapshot().value, context: ref.getSnapshot().context, stats: path.stats });
  }
  path.stop();
  await clock.settle();
  trace.push((facts ?? started.facts).all.filter(({ type }) => type !== 'integration.changed').map(({ type }) => type));
  return { trace, events };
}

function takeStep(
  { integration, path, clock, seen }: Started,
  below: (limit: number) => number,
  random: () => number,
  releases: (() => void)[],
  trace: unknown[],
): string {
  const dice = below(20);
  if (dice < 7) {
    const number = seen.length;
    const effect = (['readOnly', 'mutating', undefined] as const)[below(3)];
    void integration.call(`call ${number}`, { effect, overallMs: 500 + below(5000) }).then((outcome) => {
      trace.push({ call: number, ok: outcome.ok, kind: outcome.ok ? '' : outcome.failure.kind });
    });
    return 'call';
  }
  if (dice < 14) {
    const attempt = seen[below(seen.length || 1)];
    if (random() < 0.5) attempt?.resolve('fine');
    else
      attempt?.reject(
        fault(kinds[below(kinds.length)] ?? 'unknown', { retryAfterMs: random() < 0.3 ? below(3000) : undefined }),
      );
    return 'answer';
  }
  if (dice < 17) {
    void clock.advance(below(1500));
    return 'advance';
  }
  if (dice === 17) {
    if (integration.state === 'crashed') path.restarted();
    else path.crashed(fault('crash').facts);
    return 'crash or restart';
  }
  if (dice === 18) {
    if (random() < 0.5) releases.push(integration.breaker.isolate());
    else releases.pop()?.();
    return 'isolate or release';
  }
  if (random() < 0.2) integration.breaker.reset();
  return 'reset';
}

describe('the fast path', () => {
  it('[M-10] skips only events that the machine would ignore: all scenarios go the same way with every event sent', async () => {
    let skipped = 0;
    for (let seed = 1; seed <= 150; seed++) {
      const fast = await play(seed, false);
      const full = await play(seed, true);
      expect(fast.trace, `seed ${seed}`).toEqual(full.trace);
      skipped += full.events - fast.events;
    }
    expect(skipped).toBeGreaterThan(1000);
  });

  it('[M-1] [M-10] puts off only what nobody hears of: who asks finds the same in all scenarios', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const unheard = await play(seed, false, false);
      const heard = await play(seed, false, true);
      expect(unheard.trace, `seed ${seed}`).toEqual(heard.trace);
    }
  });

  it('[M-1] sends nothing for calls that follow each other within a moment, where nobody listens', async () => {
    const { integration, clock, ref } = startIntegration({}, () => 'answer', { facts: new UnheardFacts() });
    await clock.settle();
    const states: unknown[] = [];
    ref.subscribe(({ value }) => states.push(value));
    for (let call = 0; call < 100; call++) {
      await integration.call('ask');
      await clock.advance(1);
    }
    expect(states).toEqual(['calling']);
    await clock.advance(20);
    expect([states, clock.pending]).toEqual([['calling', 'idle'], 0]);
  });

  it('[M-1] is idle at once for who asks for its state, though nobody listens', async () => {
    const { integration } = startIntegration({}, () => 'answer', { facts: new UnheardFacts() });
    await integration.call('ask');
    expect(integration.state).toBe('idle');
  });

  it('[I-3] has no timer left of a state that was put off once it is stopped', async () => {
    const { integration, path, clock } = startIntegration({}, () => 'answer', { facts: new UnheardFacts() });
    await integration.call('ask');
    path.stop();
    await clock.settle();
    expect(clock.pending).toBe(0);
  });
});
