import { describe, expect, it } from 'vitest';
import { noFigures } from '../../src/policy/records/callFigures.ts';
import { hasSqlite, startStore } from '../store/startStore.ts';
import { call } from './startCli.ts';

const now = Date.UTC(2026, 0, 1, 1);
const row = { ...noFigures, integration: 'search', tool: undefined, minute: now - 60_000, succeeded: 3 };

describe.skipIf(!hasSqlite)('unwedge metrics', () => {
  it('[O-12] prints what was ever counted, whatever retention has deleted', async () => {
    const { store, path } = await startStore();
    store.statistics.add([row, { ...row, minute: now - 40 * 24 * 3_600_000 }]);
    await store.flush();
    const { code, stdout } = await call(['metrics', '--db', path]);
    expect(code).toBe(0);
    expect(stdout).toContain('unwedge_calls_total{integration="search",result="success"} 6\n');
    const { stdout: json } = await call(['metrics', '--json', '--db', path]);
    expect(JSON.parse(json)).toMatchObject({
      metrics: [
        { name: 'unwedge_calls_total', samples: [{ labels: { result: 'success' }, value: 6 }] },
        {},
        {},
        {},
        {},
      ],
    });
  });

  it('[O-12] [Q-6] sends a terminal nothing that steers it, and a pipe every character of a name', async () => {
    const { store, path } = await startStore();
    store.statistics.add([{ ...row, integration: 'a\u001b[31m\u0007\r\u009b\u200b\nb' }]);
    await store.flush();
    const { stdout } = await call(['metrics', '--db', path], { isTTY: true });
    expect(stdout).toContain('{integration="a[31m\\nb",result="success"} 3\n');
    expect((await call(['metrics', '--db', path])).stdout).toContain('a\u001b[31m');
  });

  it('[O-12] [O-8] shows no secret that somebody put into a name', async () => {
    const { store, path } = await startStore();
    const key = `sk-ant-api03-${'a1B2c3D4'.repeat(6)}`;
    store.statistics.add([row, { ...row, tool: key }]);
    await store.flush();
    const { stdout } = await call(['metrics', '--db', path]);
    expect(stdout).toContain('unwedge_tool_calls_total');
    expect(stdout).not.toContain(key);
  });
});
