import { describe, expect, it } from 'vitest';
import { soakPicture } from './picture.mjs';
import { soak } from './soak.mjs';

describe.runIf(process.platform === 'linux')('a gateway with everything on under steady work', () => {
  it('[Q-7] is seen to hold and leave ever more where leaks are planted: heap, descriptors, timers and files', async () => {
    const leak = ['heap', 'descriptor', 'timer', 'file'] as const;
    const { judged } = await soak({ minutes: 0.35, seed: 7, everyMs: 500, only: [], leak });
    const rising = judged.filter(({ rises }) => rises).map(({ name, quantity }) => `${name} ${quantity}`);
    const planted = ['gateway heap', 'gateway descriptors', 'gateway timers', 'folder files'];
    expect(rising).toEqual(expect.arrayContaining(planted));
  }, 180_000);

  it('[I-1] [I-3] [Q-7] works beside all other programs, which answer each request once and end in order', async () => {
    const report = await soak({ minutes: 0.35, seed: 7 });
    // Within so short a time nothing has come to its level: what is held is judged by the hour.
    const rising = report.judged.filter(({ rises }) => rises).map(({ text }) => text);
    expect(report.violations.filter((each) => !rising.includes(each))).toEqual([]);
    expect(report.done['call ok']).toBeGreaterThan(20);
    expect(soakPicture(report)).toMatch(/^<svg[^]*<\/svg>\n$/);
  }, 240_000);
});
