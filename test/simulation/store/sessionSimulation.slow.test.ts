import { describe, expect, it } from 'vitest';
import { firstOf } from './firstOf.ts';
import type { Mutate } from './simulatedProcess.ts';
import { simulateSessions } from './simulateSessions.ts';

describe('sessions of gateways on a simulated database', { timeout: 1_800_000 }, () => {
  const firstSessionViolation = (plant?: Mutate): Promise<string | undefined> =>
    firstOf((seed, mutate) => simulateSessions({ seed, mutate }), plant);

  it('[N-2] [N-3] [N-4] [G-11] take each message once, in order, wherever it is sent, over 200 seeds', async () => {
    expect(await firstSessionViolation()).toBeUndefined();
  });

  describe('find a planted bug:', () => {
    it('[N-3] mail that is taken the last first', async () => {
      const bug: Mutate = (text) => text.replace('ORDER BY m.id LIMIT $3', 'ORDER BY m.id DESC LIMIT $3');
      expect(await firstSessionViolation(bug)).toMatch(/stands before/);
    });

    it('[N-3] an end of which the sender never hears', async () => {
      const bug: Mutate = (text) =>
        text.replace("x.number = w.number AND x.state = 'taken' RETURNING", 'false RETURNING');
      expect(await firstSessionViolation(bug)).toMatch(/something waits, and nobody takes it|never heard of its end/);
    });

    it('[N-4] a write without its fence', async () => {
      const fence = /WHERE l\.token = [fr]\.token AND l\.lease_id = [fr]\.lease_id(?=.* FOR SHARE OF l)/;
      expect(await firstSessionViolation((text) => text.replace(fence, ''))).toBeDefined();
    });
  });
});
