import { describe, expect, it } from 'vitest';
import { soakPicture } from './picture.mjs';
import { soak } from './soak.mjs';

const short = { minutes: 0.4, seed: 7, everyMs: 500, only: [] };

describe.runIf(process.platform === 'linux')('a gateway with everything on under steady work', () => {
  it.each([
    ['heap', 'heap'],
    ['descriptor', 'descriptors'],
    ['timer', 'timers'],
  ] as const)(
    '[Q-7] is seen to hold ever more where that is planted: %s',
    async (leak, quantity) => {
      const { judged } = await soak({ ...short, leak });
      const rising = judged.filter(({ rises }) => rises).map((each) => `${each.name} ${each.quantity}`);
      expect(rising).toContain(`gateway ${quantity}`);
    },
    180_000,
  );

  it('[Q-7] is seen to leave ever more files where that is planted', async () => {
    const { judged } = await soak({ ...short, leak: 'file' });
    expect(judged.find(({ name, quantity }) => name === 'folder' && quantity === 'files')).toMatchObject({
      rises: true,
    });
  }, 180_000);

  it('[I-1] [I-3] [Q-7] works beside all other programs, which answer each request once and end in order', async () => {
    const report = await soak({ minutes: 0.5, seed: 7 });
    // Within so short a time nothing has come to its level: what is held is judged by the hour.
    const rising = report.judged.filter(({ rises }) => rises).map(({ text }) => text);
    expect(report.violations.filter((each) => !rising.includes(each))).toEqual([]);
    expect(report.done['call ok']).toBeGreaterThan(50);
    expect(soakPicture(report)).toMatch(/^<svg[^]*<\/svg>\n$/);
  }, 240_000);
});
