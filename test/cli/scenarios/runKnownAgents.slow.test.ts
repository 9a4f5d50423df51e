import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedArgs } from '../../support/recordedAgent.ts';
import { fixture, startPlace } from '../startRun.ts';

/** Runs a stand-in that prints what a real agent was seen to print, one recorded run an attempt. */
async function runRecorded(
  agent: string,
  runs: readonly string[],
  options: readonly string[] = [],
  variables: readonly string[] = [],
) {
  const place = startPlace();
  const counter = join(place.directory, 'counter');
  const recorded = runs.map((run) => `${agent}/${run}`).join(',');
  const own = [`RECORDED=${recorded}`, `COUNTER=${counter}`, ...variables];
  const program = ['env', ...own, process.execPath, fixture('recordedAgent.mjs')];
  const [name = ''] = runs[0]?.split(':') ?? [];
  const words = ['--agent', agent, '--policy', 'toolCall', ...options, '--', ...program, ...recordedArgs(agent, name)];
  const { code, stdout, stderr } = await place.run(words);
  return { code, stdout: stdout.toString(), stderr, attempts: statSync(counter).size };
}

const json = (stdout: string) => JSON.parse(stdout) as Record<string, unknown>;

describe('unwedge run over an agent that is known', () => {
  it.each([
    ['goose', '500:0', 1, 'transient'],
    ['goose', '429:0', 75, 'rate_limit'],
    ['goose', '500-text:0', 1, 'transient'],
    ['gemini', 'eof:0', 1, 'transient'],
    ['gemini', '401:145', 1, 'auth'],
    ['gemini', '429:173', 75, 'rate_limit'],
    ['opencode', '500:1', 1, 'transient'],
    ['copilot', '429:1', 75, 'rate_limit'],
  ] as const)('[A-2] %s %s exits with %i: %s', async (agent, run, exitCode, kind) => {
    const { code, stderr } = await runRecorded(agent, [run]);
    expect(code).toBe(exitCode);
    expect(stderr).toContain(`unwedge: ${kind}: `);
  });

  it('[A-2] tries again what a goose did not repeat itself, and then has its answer', async () => {
    const { code, attempts, stdout } = await runRecorded('goose', ['cut:0', 'good:0'], ['--attempts', '3']);
    expect({ code, attempts }).toEqual({ code: 0, attempts: 2 });
    expect(stdout).toContain('world.');
  });

  it('[A-2] [R-6] does not try again what a goose has repeated in vain, and says so', async () => {
    const { code, attempts, stderr } = await runRecorded('goose', ['500:0', 'good:0'], ['--attempts', '3']);
    expect({ code, attempts }).toEqual({ code: 1, attempts: 1 });
    expect(stderr).toContain('not tried again: goose has asked again by itself');
  });

  it('[A-2] counts a failure that exits 0 for the breaker', async () => {
    const { attempts, code, stderr } = await runRecorded('goose', ['cut:0'], ['--attempts', '9', '--retry', 'always']);
    expect({ attempts, code }).toEqual({ attempts: 5, code: 75 });
    expect(stderr).toContain('failed 5 times in a row');
  });

  it('[A-2] names the work that an agent left in the background, and ends it', async () => {
    const { code, stderr, stdout } = await runRecorded('goose', ['good:0'], ['--json'], ['LEAVES=1']);
    expect({ code, left: json(stdout)['left_running'] }).toEqual({ code: 0, left: ['sleep'] });
    expect(stderr).toContain('it left work in the background, which was ended with it: sleep');
  });

  it.each(['goose', 'gemini', 'opencode', 'copilot'])('[A-2] prints one report of one form: %s', async (agent) => {
    const { stdout } = await runRecorded(agent, ['tool:0'], ['--json']);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(json(stdout)).toMatchObject({
      ok: true,
      exit_code: 0,
      effects: 'possible',
      agent: { agent, text: 'Done.', effects: 'possible', concluded: true, calls: { tools: 1 } },
    });
  });

  it("[A-1] [A-2] judges an agent of the user's own by its profile in the configuration", async () => {
    const place = startPlace();
    const config = join(place.directory, 'unwedge.json');
    const qwen = { commands: ['qwen'], title: 'Qwen', like: 'gemini' };
    writeFileSync(config, JSON.stringify({ agentProfiles: { qwen } }));
    const program = [`RECORDED=gemini/401:145`, `COUNTER=${join(place.directory, 'counter')}`, process.execPath];
    const words = ['--agent', 'qwen', '--config', config, '--json', '--', 'env', ...program];
    const { code, stdout } = await place.run([...words, fixture('recordedAgent.mjs'), '-p', 'x', '-o', 'stream-json']);
    expect({ code, report: json(stdout.toString()) }).toMatchObject({
      code: 1,
      report: { kind: 'auth', exit_code: 1 },
    });
  });
});
