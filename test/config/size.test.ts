import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/loadConfig.ts';
import { readOpenClawConfig } from '../../src/config/openclawConfig.ts';
import { nearest } from '../../src/policy/text/nearest.ts';
import { folderWith, problemsOf } from './folder.ts';

const inJson = (text: string): Promise<readonly string[]> =>
  problemsOf(loadConfig({ cwd: folderWith({ 'unwedge.config.json': text }), env: {} }));

const unknownKeys = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`storee${index}`, index]));

/** What each of these took before was minutes, or an error of the engine; they take a second or two now. */
const soon = 60_000;

describe('a configuration that is too much', () => {
  it('is not read from a file of more than a megabyte', { timeout: soon }, async () => {
    const text = `{"store":"${'x'.repeat(2_000_000)}"}`;
    expect(await inJson(text)).toEqual(['unwedge.config.json: is larger than 1048576 bytes']);
    const cwd = folderWith({ 'openclaw.json': text });
    const loading = loadConfig({ cwd, env: {}, openclaw: 'openclaw.json' });
    expect(await problemsOf(loading)).toEqual(['openclaw.json: is larger than 1048576 bytes']);
    await expect(readOpenClawConfig(`${cwd}/openclaw.json`)).rejects.toThrow('is larger than 1048576 bytes');
  });

  it('is read from one of a megabyte, whatever it is', { timeout: soon }, async () => {
    const [line] = await inJson(`{"control":"${'x'.repeat(1_000_000)}"}`);
    expect(line).toMatch(/^unwedge\.config\.json:1:2: control: expected true or false, got "x{1,100}/);
    const [unknown] = await inJson(`{"${'store'.repeat(200_000)}":1}`);
    expect(unknown).toContain('unknown key storestore');
  });

  it('is one of more than 10,000 values, or more than 50 levels', { timeout: soon }, async () => {
    const many = 'unwedge.config.json: holds more than 10000 values';
    expect(await inJson(JSON.stringify(unknownKeys(50_000)))).toEqual([many]);
    expect(await inJson(JSON.stringify({ alerts: { command: { args: Array(10_001).fill(1) } } }))).toEqual([many]);
    const deep = 'unwedge.config.json: is more than 50 levels deep';
    expect(await inJson(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).toEqual([deep]);
    await expect(loadConfig({ file: false, env: {}, overrides: unknownKeys(10_001) as never })).rejects.toThrow(
      'Expected `options.overrides` to be a configuration: it holds more than 10000 values',
    );
  });

  it('has its first hundred problems told, and the others counted', { timeout: soon }, async () => {
    const lines = await inJson(JSON.stringify(unknownKeys(9_999), null, 1));
    expect(lines.length).toBe(101);
    expect(lines[0]).toBe('unwedge.config.json:2:2: unknown key storee0; did you mean store?');
    expect(lines[100]).toBe('unwedge.config.json: 9899 more problems are not told');
  });

  it('has its first hundred problems told where they are all over', { timeout: soon }, async () => {
    const integrations = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`i${index}`, { attemptMs: 'soon', retri: 1 }]),
    );
    const lines = await inJson(JSON.stringify({ policies: { integrations }, store: '' }));
    expect(lines.filter((line) => line.includes('more problems')).length).toBe(1);
    expect(lines.length).toBe(101);
  });

  it('has its first hundred unknown variables told', { timeout: soon }, async () => {
    const env = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`UNWEDGE_STOREE_${index}`, '1']));
    const { warnings } = await loadConfig({ file: false, env });
    expect([warnings.length, warnings[100]]).toEqual([101, '19900 more unknown variables are not told']);
  });

  it('has no word so long that it is compared for ever', { timeout: soon }, () => {
    const word = 'x'.repeat(1_000_000);
    expect(nearest(word, Array(1_000).fill('store'))).toBeUndefined();
  });
});
