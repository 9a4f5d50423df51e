import { describe, expect, it } from 'vitest';
import { killPrograms } from './killPrograms.mjs';
import { limitPrograms } from './limitPrograms.mjs';

describe('our programs, harmed as they start and work', () => {
  it('[I-1] [I-3] [I-5] [S-8] answer each request once, end as documented and leave nothing', async () => {
    const report = await killPrograms({ times: 10, seed: 7 });
    expect(report).toMatchObject({ violations: [] });
    expect(report.answered).toBeGreaterThan(0);
  }, 300_000);

  it('[I-1] [I-6] [S-4] say what is short, or go on without it, and work again once it is there', async () => {
    const only = ['mcp', 'serve', 'run'];
    const report = await limitPrograms({ times: 3, seed: 7, only, harm: 'disk that fills' });
    expect(report).toMatchObject({ violations: [] });
    expect(report.answered).toBeGreaterThan(0);
  }, 300_000);
});
