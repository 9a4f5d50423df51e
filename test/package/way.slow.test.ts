import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';

interface Way {
  readonly what: 'call' | 'turn';
  readonly files: number;
  /** Functions that were entered, each as often as it was. */
  readonly entries: number;
}

/**
 * The longest ways there may be; U-13 wants 10 files and 60 entries, and 55 and 520, above which stand the rule on repetition (7 files, 110 entries, most of
 * them arithmetic), late answers, the end of sessions, and the chain of deadlines. A change that makes one shorter lowers it here.
 */
const longest = { call: { files: 10, entries: 36 }, turn: { files: 67, entries: 660 } } as const;

it('[U-13] a plain call, and a turn with a tool on SQLite, take no longer a way through the source than they did', async () => {
  const script = fileURLToPath(new URL('../../scripts/way.mjs', import.meta.url));
  const { stdout } = await execa(process.execPath, [script]);
  const ways = stdout.split('\n').map((line) => JSON.parse(line) as Way);
  expect(ways.map(({ what }) => what)).toEqual(['call', 'turn']);
  for (const { what, files, entries } of ways) {
    expect({
      what,
      isLonger: files > longest[what].files || entries > longest[what].entries,
      files,
      entries,
    }).toMatchObject({ isLonger: false });
    expect(entries).toBeGreaterThan(20);
  }
  // The source is compiled first.
}, 300_000);
