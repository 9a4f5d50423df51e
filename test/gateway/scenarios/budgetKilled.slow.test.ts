import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { fixture } from '../../actors/process/startProcess.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

describe.skipIf(!hasSqlite)('a budget of processes on one file', () => {
  it('[G-16] is spent by all of them together to the last request, whoever was killed in the middle of one', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const run = (dies = '') =>
      execa(process.execPath, [fixture('spendingGateway'), store, '60', dies], { reject: false });
    const linesOf = ({ stdout }: { readonly stdout: string }): readonly string[] => stdout.split('\n');
    const killed = await Promise.all([run('5'), run('7'), run('11')]);
    expect(killed.map(({ signal }) => signal)).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL']);
    expect(killed.map((each) => linesOf(each).length)).toEqual([5, 7, 11]);
    const others = await Promise.all([run(), run()]);
    expect(others.map((each) => linesOf(each).at(-1))).toEqual(['spent', 'spent']);
    const made = [...killed, ...others].flatMap(linesOf).filter((line) => line === 'made');
    expect(made).toHaveLength(60);
    expect(linesOf(await run())).toEqual(['spent']);
  });
});
