import { describe, expect, it } from 'vitest';
import { killMcp } from './killMcp.mjs';

describe('MCP servers that are killed and stopped behind the proxy', () => {
  it('[P-3] leave every request answered once, every client connected and no process', async () => {
    const report = await killMcp({ times: 6, seed: 7 });
    expect(report).toMatchObject({ violations: [] });
    expect(report.kills + report.stops).toBe(6);
    expect(report.requests).toBeGreaterThan(0);
  }, 180_000);
});
