import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedRounds, roundArgs } from '../../support/agentRounds.ts';
import { processesOf } from '../../support/processesOf.ts';
import { fixture, startPlace } from '../startRun.ts';

interface Ways {
  readonly options?: readonly string[];
  readonly variables?: readonly string[];
}

/** Runs a stand-in that prints the recorded rounds of an agent until it is told to end. */
async function runSpinning(agent: string, kind: string, { options = [], variables = [] }: Ways = {}) {
  const place = startPlace();
  const counter = join(place.directory, 'counter');
  const seconds = `58${Math.floor(Math.random() * 100_000)}`;
  const program = ['env', ...variables, `COUNTER=${counter}`, `SLEEPS=${seconds}`, process.execPath];
  const own = ['--agent', agent, '--name', 'agent', '--policy', 'toolCall', '--timeout', '60s', ...options];
  const words = [...own, '--', ...program, fixture('spinningAgent.mjs'), agent, kind, ...roundArgs(agent)];
  const { code, stdout, stderr } = await place.run(words);
  return {
    ...{ code, stdout: stdout.toString(), lines: stderr.trim().split('\n'), left: processesOf(seconds) },
    starts: existsSync(counter) ? statSync(counter).size : 0,
    breaker: place.breaker('agent'),
  };
}

describe('unwedge run over an agent that makes one call for ever', () => {
  it.each(recordedRounds.filter(([, kind]) => kind === 'fails'))(
    '[L-4] [G-15] ends %s (%s) at the twentieth failure, once, with all that it started, and says why',
    async (agent, kind) => {
      const { code, lines, left, starts, breaker } = await runSpinning(agent, kind, { options: ['--attempts', '3'] });
      expect({ code, starts, left }).toEqual({ code: 1, starts: 1, left: [] });
      expect(lines.filter((line) => line.startsWith('unwedge: spinning: It spins, and was ended: '))).toHaveLength(1);
      expect(lines.join('\n')).toContain('was called 20 times with the same arguments and failed alike each time');
      expect(lines[0]).toContain('unwedge: it spins: ');
      expect(breaker?.failures ?? 0).toBe(0);
    },
  );

  it('[L-4] [G-15] says so in --json, and where to go on', async () => {
    const { code, stdout } = await runSpinning('claude', 'mcp', { options: ['--json'] });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ ok: false, kind: 'spinning', exit_code: 1, attempts: 1, retryable: false, session_id: 's-1' },
      message: expect.stringContaining('mcp__loop__fail was called 20 times') as unknown,
    });
  });

  it('[L-4] [G-15] tells of equal successes, and has it go on', async () => {
    const rounds = { variables: ['ROUNDS=60'], options: ['--json'] };
    const { code, lines } = await runSpinning('codex', 'succeeds', rounds);
    expect(lines.filter((line) => line.includes('spin'))).toEqual([
      'unwedge: it spins: command was called 4 times with the same arguments and was answered alike each time',
    ]);
    expect(lines.join('\n')).not.toContain('spinning:');
    expect(code).not.toBe(124);
  });

  it.each([
    ['off', []],
    ['notice', ['4 times']],
    ['tell', ['4 times', '6 times']],
  ])('[L-4] [G-15] goes as far as --spinning %s', async (choice, told) => {
    const ways = { variables: ['ROUNDS=60'], options: ['--spinning', choice] };
    const { code, lines } = await runSpinning('claude', 'fails', ways);
    expect(code).toBe(0);
    const spins = lines.filter((line) => line.includes('it spins'));
    expect(spins.map((line) => /\d+ times/.exec(line)?.[0])).toEqual(told);
  });

  it.each([
    ['rounds=10', 'codex', 'succeeds', '10; its budget is 10 rounds of the run; more by: --spend rounds=15, '],
    [
      'toolCalls=5,rounds=9',
      'gemini',
      'succeeds',
      '5; its budget is 5 tool calls of the run; more by: --spend toolCalls=8, ',
    ],
    ['tokens=2500', 'claude', 'reads', '3000; its budget is 2500 tokens of the run; more by: --spend tokens=3750, '],
  ])('[L-4] [G-16] ends at --spend %s between two calls: %s (%s)', async (spend, agent, kind, said) => {
    const options = ['--spend', spend, '--attempts', '3'];
    const { code, lines, left, starts, breaker } = await runSpinning(agent, kind, {
      options,
      variables: ['TOKENS=1000'],
    });
    expect({ code, starts, left }).toEqual({ code: 1, starts: 1, left: [] });
    expect(lines.join('\n')).toContain(`unwedge: spinning: agent has spent ${said}`);
    expect(lines.filter((line) => line.includes('spinning: '))).toHaveLength(1);
    expect(breaker?.failures ?? 0).toBe(0);
  });

  it('[L-4] [G-16] refuses a run of a day that is spent before its start, in --json too, and begins one that is given more', async () => {
    const place = startPlace();
    const runs = [];
    for (const spend of ['rounds=8/day', 'rounds=8/day', 'rounds=1k/day']) {
      const own = ['--agent', 'codex', '--name', 'agent', '--timeout', '60s', '--json', '--spend', spend];
      const program = ['env', 'ROUNDS=8', process.execPath, fixture('spinningAgent.mjs'), 'codex', 'succeeds'];
      runs.push(await place.run([...own, '--', ...program, ...roundArgs('codex')]));
    }
    const [first, second, third] = runs.map(({ stdout }) => JSON.parse(stdout.toString()) as Record<string, unknown>);
    expect(first).toMatchObject({ attempts: 1 });
    expect(second).toMatchObject({
      attempts: 0,
      kind: 'spinning',
      reason: 'budget',
      exit_code: 75,
      command_exit_code: null,
    });
    expect(second?.['message']).toMatch(
      /^agent has spent 8; its budget is 8 rounds of the day; more at 00:00 UTC, or: --spend rounds=12\/day/,
    );
    expect(third).toMatchObject({ attempts: 1 });
    expect(third?.['reason']).not.toBe('budget');
  });
});
