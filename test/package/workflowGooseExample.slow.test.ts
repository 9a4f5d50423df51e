import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { FaultyAcpAgentOptions } from '../../testing/index.ts';
import { builtAcpAgent } from '../support/acpWire.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const root = new URL('../..', import.meta.url);

/** Runs the example with these words in place of goose. */
async function runExample(words: readonly string[], env: Record<string, string> = {}) {
  const args = ['examples/workflow-goose.mjs', ...words];
  const { stdout, stderr, exitCode } = await execa(process.execPath, args, { cwd: root, env, reject: false });
  const frames = stdout.split('\n').filter((line) => line.startsWith('data: '));
  const told = frames.map((line) => JSON.parse(line.slice(6)) as { type: string; data: Record<string, unknown> });
  return { stdout, stderr, exitCode, told, last: stdout.trimEnd().split('\n').at(-1) };
}

const overAcp = (options: FaultyAcpAgentOptions = {}) => {
  const { command, args } = builtAcpAgent(options);
  return runExample([command, ...args]);
};

/** A stand-in that prints what goose was seen to print. */
const headless = (recorded: string) =>
  runExample(
    ['--headless', process.execPath, fileURLToPath(new URL('../fixtures/recordedAgent.mjs', import.meta.url))],
    { RECORDED: recorded, COUNTER: join(temporaryDirectory(), 'counter') },
  );

describe('examples/workflow-goose.mjs', () => {
  it('[A-5] [W-1] has goose go on over ACP, and prints the frames of its run', async () => {
    const { told, stdout, exitCode, last } = await overAcp();
    expect(told.map(({ type, data }) => [type, data['status'] ?? data['to'] ?? data['backend']])).toEqual([
      ['workflow_started', 'mcp'],
      ['workflow_planned', 'mcp'],
      ...['running', 'done', 'running', 'failed'].map((status) => ['workflow_item', status]),
      ['workflow_fallback', 'goose'],
      ['workflow_planned', 'goose'],
      ...['handed_over', 'running', 'done'].map((status) => ['workflow_item', status]),
      ['workflow_ended', 'succeeded'],
    ]);
    expect(told.find(({ type }) => type === 'workflow_fallback')?.data).toEqual({
      from: 'mcp',
      to: 'goose',
      reason: 'mail failed, which ends the run: No mail here',
    });
    expect(stdout).toContain('fetch by mcp: fetch the prices\nmail by goose: You said: Do this');
    expect({ exitCode, last }).toEqual({ exitCode: 0, last: 'succeeded' });
  });

  it('[A-5] has goose go on as a command', async () => {
    const { stdout, exitCode } = await headless('goose/good:0');
    expect(stdout).toMatch(/mail by goose: .*world\.\nsucceeded$/);
    expect(exitCode).toBe(0);
  });

  it('[A-5] [A-2] does not take a failure of the model for an answer, over ACP', async () => {
    const text = 'Ran into this error: Server error: 529 overloaded_error.';
    const { told, exitCode, last } = await overAcp({ like: 'goose', faults: [{ do: 'stop', text }] });
    const ofGoose = told.filter(({ type, data }) => type === 'workflow_item' && data['backend'] === 'goose');
    expect(ofGoose.at(-1)?.data).toMatchObject({ status: 'failed', attempt: 3, error: text });
    expect({ exitCode, last }).toEqual({ exitCode: 1, last: 'partial' });
  });

  it('[A-5] [A-2] does not take a failure of the model for an answer, as a command', async () => {
    const { told, exitCode } = await headless('goose/500:0');
    expect(told.at(-1)?.data).toMatchObject({ status: 'partial', done: 1, failed: 1 });
    expect(exitCode).toBe(1);
  });

  it('[A-5] says what is to be installed where there is no goose', async () => {
    const { exitCode, stderr, stdout } = await runExample(['/no/such/goose']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('There is no /no/such/goose. Install goose: https://');
  });

  it('[A-5] is short', () => {
    const text = readFileSync(new URL('examples/workflow-goose.mjs', root), 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(90);
  });
});
