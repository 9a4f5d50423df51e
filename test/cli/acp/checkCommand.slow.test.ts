import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { AcpCheckReport } from '../../../testing/acp/acpCheck.ts';
import type { FaultyAcpAgentOptions } from '../../../testing/index.ts';
import { builtAcpAgent } from '../../support/acpWire.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runBuilt } from '../startCli.ts';

const slowly = { prompt: 'Count', at: 'text', do: 'slow', ms: '1h' } as const;

function check({ faults = [], ...options }: FaultyAcpAgentOptions, ...words: readonly string[]) {
  const stateFile = join(temporaryDirectory(), 'state');
  const { command, args } = builtAcpAgent({ stateFile, ...options, faults: [...faults, slowly] });
  return runBuilt(['acp', '--check', ...words, '--', command, ...args], { COLUMNS: '160' });
}

describe('unwedge acp --check', () => {
  it('[A-7] prints what an agent keeps', async () => {
    const { code, stdout, stderr } = await check({});
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ +MUST +SEEN\npass +initialize is answered with a version/);
    expect(stdout.match(/^pass /gm)).toHaveLength(19);
  });

  it('[A-7] prints what it does not keep, for machines too, and ends with 1', async () => {
    const options = { protocolVersion: 99, stderr: 'it is late' };
    const { code, stdout, stderr } = await check(options);
    expect([code, stderr]).toEqual([1, 'It said last: it is late\n']);
    expect(stdout).toMatch(/^fail +a version that it does not speak .* version 99/m);
    const json = await check(options, '--json');
    const report = JSON.parse(json.stdout) as AcpCheckReport;
    expect([json.code, report.passed, report.rows.length, report.stderr]).toEqual([1, false, 19, 'it is late']);
  });

  it('[A-7] [I-3] tells of what an agent leaves, and ends it', async () => {
    const { code, stdout } = await check({ faults: [{ nth: 1, do: 'child', detached: true }] }, '--json');
    const { rows } = JSON.parse(stdout) as AcpCheckReport;
    const left = /left: (\d+)/.exec(rows.map(({ seen }) => seen).join())?.[1];
    expect([code, left]).toEqual([1, expect.stringMatching(/^\d+$/)]);
    await vi.waitFor(() => expect(() => process.kill(Number(left), 0)).toThrow('ESRCH'), 5000);
  });

  it('[A-7] says why an agent cannot be started, and what is wrong with a command line', async () => {
    const missing = await runBuilt(['acp', '--check', '--', '/nonexistent/agent'], { COLUMNS: '300' });
    expect(missing.code).toBe(1);
    expect(missing.stdout).toMatch(/^fail +initialize .*it ended: spawn \/nonexistent\/agent ENOENT/m);
    const wrong = await runBuilt(['acp', '--check', '--', `${process.execPath}/agent`], { COLUMNS: '300' });
    expect([wrong.code, wrong.stderr]).toEqual([1, '']);
    expect(wrong.stdout).toMatch(/^fail +initialize .*it ended: spawn ENOTDIR/m);
    expect(await runBuilt(['acp', '--check'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No command given') as string,
    });
  });
});
