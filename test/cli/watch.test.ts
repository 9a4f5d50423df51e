import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../cli/io.ts';
import { runCommandLine } from '../../cli/run.ts';
import { failed, hasSqlite, startStore } from '../store/startStore.ts';

const now = Date.UTC(2026, 0, 1, 0, 0, 1);

/** Watches the status of a store with one failure, looks `looks` times, and takes `step` after the first look. */
async function watch(
  words: readonly string[],
  given: Partial<Io> & { looks?: number; step?: (path: string) => void } = {},
) {
  const { looks = 2, step, ...more } = given;
  const { store, path } = await startStore();
  store.record(failed(1));
  await store.flush();
  const controller = new AbortController();
  const waited: number[] = [];
  const written: string[] = [];
  let stderr = '';
  const code = await runCommandLine(['status', '--watch', '--db', path, ...words], {
    stdout: { write: (text) => written.push(text) },
    stderr: { write: (text) => (stderr += text) },
    env: {},
    isTTY: false,
    columns: Infinity,
    signal: controller.signal,
    now: () => now,
    async pause(ms) {
      if (waited.length === 0) step?.(path);
      waited.push(ms);
      if (waited.length >= looks) controller.abort();
    },
    ...more,
  });
  return { code, written, stdout: written.join(''), stderr, waited };
}

describe.skipIf(!hasSqlite)('unwedge status --watch', () => {
  it('[L-2] shows one status below the other where there is no terminal', async () => {
    const { code, written, waited } = await watch([], { looks: 3 });
    expect([code, written.length, waited]).toEqual([0, 3, [2_000, 2_000, 2_000]]);
    expect(written[0]).toMatch(/^2026-01-01 .*\n.*: 1 event\n/);
    expect(written[2]).toMatch(/^\n2026-01-01 .*\n.*: 1 event\n/);
    expect(written.join('')).not.toContain('\u001b');
  });

  it('[L-2] shows it in place on a terminal, within its lines', async () => {
    const { written } = await watch([], { isTTY: true, columns: 120, rows: 5 });
    expect(written[0]?.startsWith('\u001b[2J\u001b[H')).toBe(true);
    expect(written[1]?.startsWith('\u001b[H')).toBe(true);
    expect(written[1]?.endsWith('\u001b[J')).toBe(true);
    const lines = written[1]?.split('\u001b[K\n') ?? [];
    expect(lines).toHaveLength(5);
    expect(lines.at(-2)).toMatch(/^… and \d+ lines more$/);
  });

  it('[L-2] counts lines that the terminal breaks as what they take', async () => {
    const { written } = await watch([], { isTTY: true, columns: 40, rows: 6 });
    const lines = written[1]?.split('\u001b[K\n') ?? [];
    expect([lines.length, lines[2]?.startsWith('No gateway runs')]).toEqual([5, true]);
    expect(lines[1]?.length).toBeGreaterThan(40);
  });

  it.each([0, 1, 10])('[L-2] is not broken by a terminal of %d columns', async (columns) => {
    const { code, stdout } = await watch([], { isTTY: true, columns, rows: 0 });
    expect(code).toBe(0);
    expect(stdout).toContain('kb');
  });

  it('[L-2] gives one object a line with --json, also on a terminal', async () => {
    const { stdout } = await watch(['--json'], { isTTY: true });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { events: number }).events)).toEqual([1, 1]);
  });

  it('[L-3] waits as long as it is told', async () => {
    expect((await watch(['500ms'])).waited).toEqual([500, 500]);
  });

  it.each([
    [['soon'], 'Expected `INTERVAL` to be a duration such as'],
    [['0.05'], 'Expected `INTERVAL` to be at least 100ms'],
    [['99ms'], 'Expected `INTERVAL` to be at least 100ms'],
  ])('[L-1] names an interval that makes no sense: %o', async (words, message) => {
    const { code, stderr } = await watch(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('[O-2] shows what is wrong meanwhile, once, and goes on', async () => {
    const { code, stderr, written } = await watch([], { looks: 4, step: (path) => renameSync(path, `${path}.away`) });
    expect([code, written.length]).toEqual([1, 4]);
    expect(stderr.match(/No database at/g)).toHaveLength(1);
  });

  it('[O-2] throws what is wrong at the first look', async () => {
    const { code, stderr, written } = await watch(['--db', '/nonexistent/x.sqlite']);
    expect([code, written, stderr]).toEqual([1, [], expect.stringContaining('/nonexistent/x.sqlite')]);
  });

  it('shows the trees too', async () => {
    const { code, stderr } = await watch(['--tree']);
    expect([code, stderr.match(/No live runtime answers/g)?.length]).toEqual([1, 1]);
  });

  it('[L-1] takes an interval with --watch alone', async () => {
    const { path } = await startStore();
    let stderr = '';
    const code = await runCommandLine(['status', '5s', '--db', path], {
      stdout: { write: () => undefined },
      stderr: { write: (text) => (stderr += text) },
      env: {},
      isTTY: false,
      columns: 80,
      signal: new AbortController().signal,
      now: () => now,
    });
    expect([code, stderr]).toEqual([2, 'unwedge: Unexpected argument "5s"; an interval goes with --watch\n']);
  });
});
