import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../src/policy/failure.ts';
import { seededRandom } from '../../src/testing/random.ts';
import { fault, type Started, startIntegration } from '../support/startIntegration.ts';

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

/** What the machine and the callers saw of one scenario, step by step. */
async function play(seed: number, everyEvent: boolean): Promise<{ trace: unknown[]; events: number }> {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const started = startIntegration(
    { maxInFlight: 3, queueLength: 2, breaker: { consecutiveFailures: 3, resetTimeoutMs: 2000, probes: 1 + below(2) } },
    undefined,
    {
      everyEvent,
      ...(seed % 3 === 0 && { probe: () => (random() < 0.5 ? 'pong' : Promise.reject(fault('transient'))) }),
    },
  );
  const { ref, path, clock, facts } = started;
  let events = 0;
  const send = ref.send.bind(ref);
  ref.send = (event) => {
    events++;
    send(event);
  };
  const trace: unknown[] = [];
  const releases: (() => void)[] = [];
  for (let step = 0; step < 150; step++) {
    const what = takeStep(started, below, random, releases, trace);
    await clock.settle();
    trace.push({ step, what, state: ref.getSnapshot().value, context: ref.getSnapshot().context, stats: path.stats });
  }
  path.stop();
  await clock.settle();
  trace.push(facts.all.filter(({ type }) => type !== 'integration.changed').map(({ type }) => type));
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
});
