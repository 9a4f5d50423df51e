import { describe, expect, it } from 'vitest';
import type { ChildSpec } from '../../../src/supervisor/childSpec.ts';
import type { SupervisorOptions } from '../../../src/supervisor/supervisor.ts';
import { supervisorSpec } from '../../../src/supervisor/supervisorLogic.ts';
import { seededRandom } from '../../../testing/random.ts';
import { broken, worker } from '../actors.ts';
import { startRoot } from '../startRoot.ts';

const never = Number.POSITIVE_INFINITY;

/** A child `a` without a window, and one call for: crash, wait for the restart, then live this long. */
const startCrashing = (spec: Partial<ChildSpec> = {}, options: Partial<SupervisorOptions> = {}) => {
  const started = startRoot([{ id: 'a', logic: worker, intensity: never, ...spec }], { intensity: never, ...options });
  const delays: number[] = [];
  const crashAndLive = async (lifeMs = 0): Promise<void> => {
    started.crash('a');
    const delayMs = started.node('a')?.nextRestartInMs ?? Number.NaN;
    delays.push(delayMs);
    await started.clock.advance(delayMs + lifeMs);
  };
  return { ...started, delays, crashAndLive };
};

describe('the wait before a restart', () => {
  it('[V-4] scenario 26: is 1, 2, 4, ... times the base, up to the cap', async () => {
    const { delays, crashAndLive } = startCrashing({ backoff: { baseMs: 10, maxMs: 100, jitter: 0 } });
    for (let crashes = 0; crashes < 6; crashes++) await crashAndLive();
    expect(delays).toEqual([10, 20, 40, 80, 100, 100]);
  });

  it('[V-4] scenario 26: stays within its jitter, and never exceeds the cap', async () => {
    const { delays, crashAndLive } = startCrashing(
      { backoff: { baseMs: 100, maxMs: 400 } },
      { random: seededRandom(7) },
    );
    for (let series = 0; series < 200; series++) {
      for (let crashes = 0; crashes < 3; crashes++) await crashAndLive();
      await crashAndLive(60_000);
    }
    const nth = (n: number) => delays.filter((_, index) => index % 4 === n);
    const bounds = [0, 1, 2, 3].map((n) => [Math.min(...nth(n)), Math.max(...nth(n))].map(Math.round));
    for (const [n, [low = 0, high = 0]] of bounds.entries()) {
      const plain = Math.min(400, 100 * 2 ** n);
      expect(low).toBeGreaterThanOrEqual(plain * 0.8);
      expect(high).toBeLessThanOrEqual(Math.min(400, plain * 1.2));
      // The jitter is there, and on both sides where the cap lets it.
      expect(low).toBeLessThan(plain * 0.85);
      expect(high).toBeGreaterThan(n < 2 ? plain * 1.15 : 399);
    }
  });

  it.each([
    [59_999, 800],
    [60_000, 100],
  ])('[V-4] scenario 26: after %s ms stable is %s ms', async (lifeMs, delayMs) => {
    const { delays, crashAndLive } = startCrashing();
    for (let crashes = 0; crashes < 2; crashes++) await crashAndLive();
    await crashAndLive(lifeMs);
    await crashAndLive();
    expect(delays.at(-1)).toBe(delayMs);
  });

  it('[V-4] scenario 26: is not reset by the time an older incarnation, or the wait itself, would have taken', async () => {
    const { delays, crashAndLive } = startCrashing({ backoff: { baseMs: 40_000, maxMs: 1_000_000, jitter: 0 } });
    await crashAndLive(30_000);
    await crashAndLive(30_000);
    await crashAndLive(30_000);
    expect(delays).toEqual([40_000, 80_000, 160_000]);
  });

  it('[V-4] scenario 26: is a series of each child alone, be it a supervisor and its child', async () => {
    const sub = supervisorSpec('sub', { children: [{ id: 'x', logic: worker }] });
    const { root, clock, node } = startRoot([sub]);
    const x = () => root.nested('sub')?.tree().children?.[0]?.nextRestartInMs;
    const crashX = () => root.nested('sub')?.send('x', { type: 'crash' });
    crashX();
    await clock.advance(100);
    crashX();
    expect(x()).toBe(200);
    root.send('sub', { type: 'xstate.stop' });
    expect(node('sub')?.nextRestartInMs).toBe(100);
    await clock.advance(100);
    crashX();
    expect(x()).toBe(100);
  });

  it.each([1, 5])('[V-3] scenario 27: ends in quarantine after exactly %s failing restarts', async (intensity) => {
    let starts = 0;
    const { clock, crash, node } = startCrashing({
      intensity,
      periodMs: 1_000_000,
      onStart: () => {
        // From the second start on, what starts is not what is started.
        starts += 1;
        if (starts > 1) queueMicrotask(() => crash('a'));
      },
    });
    crash('a');
    await clock.advance(1_000_000);
    expect(node('a')).toMatchObject({ state: 'quarantined', restarts: intensity });
    expect(starts).toBe(1 + intensity);
  });

  it('[V-4] scenario 30: is dropped when the child is stopped, and when it is deleted and replaced', async () => {
    const { root, clock, crash, node } = startCrashing();
    crash('a');
    await root.stopChild('a');
    expect(clock.pending).toBe(0);
    root.deleteChild('a');
    root.startChild({ id: 'a', logic: worker, systemId: 'new' });
    const replacement = root.ref('a');
    await clock.advance(100_000);
    expect(root.ref('a')).toBe(replacement);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 1, restarts: 0 });
    expect(clock.pending).toBe(0);
  });

  it.each<[string, Partial<ChildSpec>, RegExp]>([
    ['is refused', {}, /unique/],
    ['is malformed', { shutdown: -1 }, /`a\.shutdown`/],
    ['would fail to start', { logic: broken }, /unique/],
  ])('[V-4] scenario 30: is not lost to a replacement that %s', async (_name, wrong, message) => {
    const { root, clock, crash, node } = startCrashing();
    crash('a');
    expect(() => root.startChild({ id: 'a', logic: worker, ...wrong })).toThrow(message);
    await clock.advance(99);
    expect(node('a')?.state).toBe('restarting');
    await clock.advance(1);
    expect(node('a')).toMatchObject({ state: 'running', incarnation: 2 });
  });
});
