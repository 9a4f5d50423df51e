import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { planAgent } from '../../cli/agent/plan.ts';
import { agentOptions } from '../../cli/agent/command.ts';
import type { OptionSpecs } from '../../cli/command.ts';
import { parseWords } from '../../cli/parse.ts';
import { runOptions } from '../../cli/run/command.ts';
import { planRun } from '../../cli/run/request.ts';
import type { ConfigOptions } from '../../src/config/configTypes.ts';
import { checkMcpProxy } from '../../proxy/mcp/settings.ts';
import { checkPolicies } from '../../src/policy/policies.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { runBuilt } from './startCli.ts';
import { fixture, main, startPlace } from './startRun.ts';
import { makeHome, startMcp, textOf } from './startMcp.ts';

const node = process.execPath;

function argsOf<O extends OptionSpecs>(options: O, words: readonly string[]) {
  const parsed = parseWords(options, words, 'help', ['[PROMPT]']);
  if (parsed.help) throw new Error('not asked for');
  return parsed.args;
}

function configured(directory: string, config: object): string {
  const file = join(directory, 'named.json');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

describe('unwedge run with a configuration', () => {
  const terminals = { stdin: false, stdout: false };
  const config: ConfigOptions = {
    store: '/configured.sqlite',
    policies: {
      presets: { subprocess: { idleMs: 11_000 }, quick: { extends: 'sdk', overallMs: 9000 } },
      integrations: { make: { attemptMs: 60_000, breaker: { consecutiveFailures: 2 } } },
    },
  };
  const plan = (...words: readonly string[]) => planRun(argsOf(runOptions, words), ['make', 'all'], terminals, config);

  it('has the policy of the name it is counted under', () => {
    const { policy, db } = plan();
    expect(policy.limits).toMatchObject({ idleMs: 11_000, attemptMs: 60_000 });
    expect([policy.breaker.consecutiveFailures, policy.retry.maxAttempts, db]).toEqual([2, 1, '/configured.sqlite']);
    expect(plan('--name', 'other').policy.breaker.consecutiveFailures).toBe(5);
  });

  it('[L-4] yields to the command line', () => {
    const words = ['--timeout', '3s', '--attempt-timeout', '2s', '--no-output-timeout', '1s', '--attempts', '4'];
    const { policy, db } = plan(...words, '--db', 'x');
    expect(policy.limits).toEqual({ idleMs: 1000, attemptMs: 2000, overallMs: 3000 });
    expect([policy.retry.maxAttempts, policy.breaker.consecutiveFailures, db]).toEqual([4, 2, 'x']);
  });

  it('knows the presets of the configuration', () => {
    expect(plan('--policy', 'quick').policy).toMatchObject({
      limits: { overallMs: 9000 },
      breaker: { consecutiveFailures: 5 },
    });
    expect(() => plan('--policy', 'quik')).toThrow('did you mean quick?');
  });

  it('ends a silent command by the limit of the file', async () => {
    const { directory, run } = startPlace();
    const file = configured(directory, { policies: { integrations: { 'silent.mjs': { idleMs: '200ms' } } } });
    const { code, stderr } = await run(['--config', file, '--', node, fixture('silent.mjs')]);
    expect(code).toBe(124);
    expect(stderr).toContain('no output for 200ms');
  });

  it('[L-1] refuses a wrong file in one line, with all that is wrong', async () => {
    const { directory, run } = startPlace();
    const file = configured(directory, { stor: 1, alerts: { failures: 0 } });
    const { code, stderr } = await run(['--config', file, '--', node, '--version']);
    expect(code).toBe(125);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/unknown key stor;.*alerts\.failures: expected a positive integer, got 0/);
  });

  it.each([
    ['run', ['--', node, '--version']],
    ['agent', ['--backend', 'claude', 'hi']],
  ])('[L-1] [L-4] is no success of %s when a module ends the process', async (command, words) => {
    const file = join(temporaryDirectory(), 'own.mjs');
    writeFileSync(file, 'process.exit(0);');
    const stderr = `unwedge: ${file}: ended the process instead of giving a configuration\n`;
    expect(await runBuilt([command, '--config', file, ...words])).toEqual({ code: 125, stdout: '', stderr });
  });

  it('reads no file that nobody has named', async () => {
    const directory = temporaryDirectory();
    const trace = join(directory, 'was-run');
    const module = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(trace)}, ''); export default {};`;
    writeFileSync(join(directory, 'unwedge.config.mjs'), module);
    const options = { cwd: directory, env: { UNWEDGE_DB: ':memory:' }, stdin: 'ignore' } as const;
    await execa(node, [main, 'run', '--', node, '--version'], options);
    expect(existsSync(trace)).toBe(false);
    const env = { ...options.env, UNWEDGE_CONFIG: 'unwedge.config.mjs' };
    await execa(node, [main, 'run', '--', node, '--version'], { ...options, env });
    expect(existsSync(trace)).toBe(true);
  });
});

describe('unwedge mcp with a configuration', () => {
  const policies = checkPolicies({
    presets: { mcp: { idleMs: 10_000 } },
    integrations: { kb: { attemptMs: 20_000, tools: { slow: { longRunningMs: 900_000 } } } },
  });

  const world = { policies, clock: systemClock, random: Math.random, secrets: new KnownSecrets() };

  it('has the policy of its server, and the limits of its tools', () => {
    const { policy, limitsOf } = checkMcpProxy({ name: 'kb', command: 'x' }, world);
    expect(policy.limits).toMatchObject({ idleMs: 10_000, attemptMs: 20_000 });
    expect(limitsOf('tools/call', 'slow')).toEqual({ idleMs: 10_000, attemptMs: 900_000, overallMs: 900_000 });
    expect(limitsOf('tools/call', 'other')).toEqual(policy.limits);
  });

  it('yields to the command line', () => {
    const options = { name: 'kb', command: 'x', idleMs: 1, overallMs: 2, toolMs: { slow: 3 } };
    const { limitsOf } = checkMcpProxy(options, world);
    expect(limitsOf('tools/call', 'other')).toEqual({ idleMs: 1, attemptMs: 2, overallMs: 2 });
    expect(limitsOf('tools/call', 'slow')).toEqual({ idleMs: 1, attemptMs: 3, overallMs: 3 });
  });

  it('ends a call that hangs by the limit of the file', async () => {
    const home = makeHome();
    const file = configured(home.directory, {
      policies: { integrations: { kb: { idleMs: '300ms', whenAlive: 'end' } } },
    });
    const proxy = startMcp(home, ['--name', 'kb', '--config', file]);
    await proxy.open();
    const reply = await proxy.call({ do: 'hang' });
    expect(reply.result?.isError).toBe(true);
    expect(textOf(reply)).toContain('300ms');
  });

  it('[L-1] refuses a wrong file', async () => {
    const file = configured(temporaryDirectory(), { stor: 1 });
    const { code, stdout, stderr } = await runBuilt(['mcp', '--config', file, '--', 'x']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('unknown key stor; did you mean store?');
  });
});

describe('unwedge agent with a configuration', () => {
  const policies = {
    presets: { slow: {} },
    integrations: { claude: { attemptMs: 1000, overallMs: 5000, limits: { idleMs: 500 } }, kb: { idleMs: 7 } },
  };
  const plan = (...words: readonly string[]) =>
    planAgent(argsOf(agentOptions, ['--backend', 'claude', ...words, 'hello']), { store: 's', policies });
  const limitsOf = ({ policies: given }: ReturnType<typeof plan>) =>
    checkPolicies(given).policyOf('claude', plan().agent.policy, 'sdk').limits;

  it('has the policy of its backend', () => {
    expect(limitsOf(plan())).toEqual({ idleMs: 500, attemptMs: 1000, overallMs: 5000 });
    expect([plan().overallMs, plan().db]).toEqual([5000, 's']);
    expect(plan().policies).toMatchObject({ presets: policies.presets, integrations: { kb: { idleMs: 7 } } });
  });

  it('yields to the command line', () => {
    const given = plan('--timeout', '20s', '--no-output-timeout', '2s', '--db', 'x');
    expect(limitsOf(given)).toEqual({ idleMs: 2000, attemptMs: 20_000, overallMs: 20_000 });
    expect([given.overallMs, given.db]).toEqual([20_000, 'x']);
  });

  it('has its usual half hour without one', () => {
    const { overallMs } = planAgent(argsOf(agentOptions, ['--backend', 'codex', 'hello']));
    expect(overallMs).toBe(1_800_000);
  });
});
