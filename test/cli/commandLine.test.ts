import { describe, expect, it } from 'vitest';
import { outputWidth } from '../../cli/commandLine.ts';
import { failed } from '../store/startStore.ts';
import { call, databaseWith, runBuilt } from './startCli.ts';

describe('the width of what is written', () => {
  it.each([
    ['that of a terminal, whatever COLUMNS says', { isTTY: true, columns: 120 }, '60', 120],
    ['80 of a terminal that does not know', { isTTY: true, columns: 0 }, undefined, 80],
    ['COLUMNS of a pipe', { isTTY: false, columns: 0 }, '60', 60],
    ['without limit of a pipe', { isTTY: false, columns: 0 }, undefined, undefined],
    ['without limit where COLUMNS is 0', { isTTY: false, columns: 0 }, '0', undefined],
    ['without limit where COLUMNS is no whole number', { isTTY: false, columns: 0 }, '60.5', undefined],
  ])('[L-6] is %s', (_, stream, given, width) => {
    expect(outputWidth(stream, { COLUMNS: given })).toBe(width);
  });

  it('[L-6] holds for what the dashboard says beside its address', async () => {
    const db = await databaseWith(failed(1));
    const { stderr } = await call(['dashboard', '--db', db], { columns: 80, signal: AbortSignal.abort() });
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('its token opens the page, once.');
    expect(Math.max(...stderr.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it('[L-6] is COLUMNS in a pipe of the real command, on stdout and on stderr', async () => {
    const db = await databaseWith(failed(1));
    const wide = await runBuilt(['events', '--db', db]);
    expect(Math.max(...wide.stdout.split('\n').map((line) => line.length))).toBeGreaterThan(80);
    const { stdout } = await runBuilt(['events', '--db', db], { COLUMNS: '80' });
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    const words = ['cancel', 'a-session-that-nobody-has', '--db', db];
    const { stderr } = await runBuilt(words, { COLUMNS: '40' });
    expect(stderr.trimEnd().split('\n').length).toBeGreaterThan(1);
  });
});
