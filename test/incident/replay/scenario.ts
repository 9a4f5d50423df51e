import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Incident } from '../../../incident/incident.ts';
import { AttemptError, type FailureKind } from '../../../src/policy/failures/failure.ts';
import type { Limits } from '../../../src/policy/policy.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { seededRandom } from '../../../testing/random.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { gathered } from './gathered.ts';

/** How a call of a scenario ended, as its caller saw it. */
export interface SeenEnd {
  readonly kind: string;
  readonly attempts: number;
}

export interface Scenario {
  readonly incident: Incident;
  /** By the ids of the calls. */
  readonly ends: ReadonlyMap<string, SeenEnd>;
}

/** A gateway under random faults, and the incident that is taken of one of its integrations. All chance comes of the seed. */
export async function randomScenario(seed: number): Promise<Scenario> {
  const chance = seededRandom(seed);
  const between = (least: number, most: number): number => least + chance() * (most - least);
  const whole = (least: number, most: number): number => Math.floor(between(least, most + 1));
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: seededRandom(seed ^ 0xfeed), store: ':memory:', alerts: false });
  const policy: PolicyInput = {
    retry: {
      maxAttempts: whole(1, 4),
      backoff: { initialMs: between(10, 500), maxMs: 5000 },
      repeatAfter: chance() < 0.5 ? 'lost' : 'refused',
      retryUnknown: chance() < 0.5,
    },
    limits: within({ idleMs: whole(100, 3000), attemptMs: whole(100, 5000), overallMs: whole(1000, 20_000) }),
    breaker: { consecutiveFailures: whole(2, 6), resetTimeoutMs: whole(500, 20_000), minimumAttempts: 10 },
    maxInFlight: whole(1, 5),
    queueLength: whole(0, 5),
    abortGraceMs: whole(50, 1000),
    maxAbandoned: whole(1, 5),
  };
  const kinds: readonly FailureKind[] = [
    'transient',
    'overloaded',
    'rate_limit',
    'auth',
    'permanent',
    'unknown',
    'crash',
  ];
  let mood = chance();
  const operation = (_: string, { signal, touch }: { signal: AbortSignal; touch: () => void }): Promise<string> =>
    new Promise((resolve, reject) => {
      const at = (ms: number, run: () => void): void => void clock.setTimeout(run, ms);
      const takesMs = between(1, 800) * (chance() < 0.1 ? 10 : 1);
      const fate = chance();
      const kind = kinds[whole(0, kinds.length - 1)] ?? 'transient';
      const retryAfterMs = kind === 'rate_limit' ? whole(1, 3000) : undefined;
      if (fate < mood) at(takesMs, () => resolve('answer'));
      else if (fate < mood + (1 - mood) * 0.7)
        at(takesMs, () =>
          reject(new AttemptError({ kind, message: `${kind} of the scenario`, outcome: 'unknown', retryAfterMs })),
        );
      // The rest hangs.
      if (chance() < 0.3) for (let times = whole(1, 20); times > 0; times--) at(between(0, takesMs), touch);
      const grace = chance();
      const lateMs = between(1, 3000);
      signal.addEventListener('abort', () => {
        if (grace < 0.6) reject(signal.reason);
        else if (grace < 0.8) at(lateMs, () => reject(signal.reason));
      });
    });
  const kb = gateway.integration('kb', { policy }, operation);
  await gateway.start();
  const ends = new Map<string, SeenEnd>();
  const count = whole(30, 120);
  const pace = between(10, 800);
  for (let number = 1; number <= count; number++) {
    if (chance() < 0.05) mood = chance();
    if (chance() < 0.01) kb.breaker.reset();
    if (chance() < 0.01) {
      const release = kb.breaker.isolate();
      if (chance() < 0.7) clock.setTimeout(release, between(10, 3000));
    }
    const controller = new AbortController();
    if (chance() < 0.05) clock.setTimeout(() => controller.abort(), between(1, 2000));
    const fallback = chance() < 0.1 ? { fallback: () => 'instead' } : {};
    const own = chance() < 0.2 ? { maxAttempts: whole(1, 3), overallMs: whole(200, 5000) } : {};
    const effect = (['readOnly', 'idempotent', 'mutating', undefined] as const)[whole(0, 3)];
    void kb.call('x', { effect, signal: controller.signal, ...fallback, ...own }).then((outcome) => {
      const failure = outcome.ok ? undefined : outcome.failure;
      ends.set(`kb-${number}`, { kind: failure?.kind ?? 'ok', attempts: failure?.attempts ?? 0 });
    });
    await clock.advance(between(0, pace * 2));
  }
  await clock.advance(chance() < 0.5 ? 60_000 : 100);
  const seen = new Map(ends);
  const incident = await gathered(gateway, 'kb', clock);
  const stopping = gateway.stop();
  await clock.advance(60_000);
  await stopping;
  return { incident, ends: seen };
}

/** No attempt is given longer than the call. */
function within({ attemptMs, overallMs, ...others }: Limits): Limits {
  return { ...others, attemptMs: Math.min(attemptMs, overallMs), overallMs };
}
