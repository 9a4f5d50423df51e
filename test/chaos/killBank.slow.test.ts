import { describe, expect, it } from 'vitest';
import { killBank } from './killBank.mjs';

describe('a bank that is killed again and again behind the proxy, while a real client pays', () => {
  it('[R-16] [P-3] has each payment in its ledger once, and every answer that the client read is true', async () => {
    const report = await killBank({ times: 25, seed: 7 });
    expect(report).toMatchObject({ violations: [] });
    expect(report.kills).toBeGreaterThanOrEqual(25);
    expect(report.found).toBeGreaterThan(0);
  }, 180_000);

  it.each(['repeat', 'blind'] as const)(
    '[R-16] is seen to pay twice where lost calls are made again: %s',
    async (settles) => {
      const { violations } = await killBank({ times: 12, seed: 7, settles });
      expect(violations.join('\n')).toMatch(/was paid \d+ times/);
    },
    180_000,
  );
});
