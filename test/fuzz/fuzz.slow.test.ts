import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { targets } from './targets/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it('[Q-4] nothing is found in a sample of inputs of each target', async () => {
  const words = ['test/fuzz/run.mjs', '--inputs', '300', '--seed', '7', '--json'];
  const ran = promisify(execFile)(process.execPath, words, { cwd: root, maxBuffer: 1e8 });
  const { stdout } = await ran.catch((error: unknown) => error as { readonly stdout: string });
  const reports = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Report] : []));
  expect(reports.flatMap(({ name, findings }) => findings.map(({ says, input }) => [name, says, input]))).toEqual([]);
  expect(reports.map(({ name }) => name)).toEqual(Object.keys(targets));
}, 900_000);

interface Report {
  readonly name: string;
  readonly findings: readonly { readonly says: string; readonly input: string }[];
}
