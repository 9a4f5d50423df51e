import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClaude } from '../../../../agents/claude/index.ts';
import { createGateway, type Gateway, type HookOptions, type SubprocessOptions } from '../../../../src/index.ts';
import { besideBusyLoops } from '../../../support/busyLoops.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { fixture } from '../startProcess.ts';

/** No verdict depends on how long anything takes. */
const timeout = 600_000;
const policy = { limits: { attemptMs: 500_000, overallMs: 550_000 } };
const long = 'x'.repeat(500_000);
const deny = JSON.stringify({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } });

function makeGateway(): Gateway {
  const gateway = createGateway({ store: ':memory:', logger: false });
  onTestFinished(() => gateway.stop());
  return gateway;
}

async function startCommand(options: SubprocessOptions) {
  const gateway = makeGateway();
  const command = gateway.subprocess('many', { policy, ...options });
  await gateway.start();
  return command;
}

/** An agent's command that notes how often it acted for each prompt. */
function actingAgent(agent: 'claude' | 'codex', end: string) {
  const acts = temporaryDirectory();
  return {
    command: process.execPath,
    args: [fixture('actingAgent'), agent, end],
    env: { ACTS: acts },
    acted: () =>
      Object.fromEntries(readdirSync(acts).map((name) => [name, readFileSync(join(acts, name), 'utf8').length])),
  };
}

/** Beside twelve loops it takes many minutes on two cores: `UNWEDGE_BUSY=1 npm run test:slow -- wholeOutput`. */
const groups: readonly [string, number, number, number][] =
  process.env['UNWEDGE_BUSY'] === undefined
    ? [
        ['24 at once', 24, 1, 0],
        ['8 at once beside four busy loops', 8, 1, 4],
      ]
    : [
        ['24 at once beside twelve busy loops', 24, 1, 12],
        ['8 at once beside twelve busy loops', 8, 2, 12],
      ];

describe.each(groups)('%s', (_, atOnce, rounds, busyLoops) => {
  besideBusyLoops(busyLoops);

  /** Some rounds of so many at once, each by its own number; a round has a gateway of its own, whose circuit is closed. */
  async function manyOf<T>(start: () => Promise<(n: number) => Promise<T>>): Promise<readonly T[]> {
    const all: T[] = [];
    for (let round = 0; round < rounds; round++) {
      const run = await start();
      all.push(...(await Promise.all(Array.from({ length: atOnce }, (_each, n) => run(round * atOnce + n)))));
    }
    return all;
  }
  /** Every prompt was acted upon once. */
  const once = Object.fromEntries(Array.from({ length: atOnce * rounds }, (_each, n) => [`turn-${n}`, 1]));

  it.each([
    ['without stdin', 'echo begin; echo end', undefined],
    ['with 500 kB of stdin', 'cat >/dev/null; echo begin; echo end', long],
    ['that hand on 500 kB', 'echo begin; cat; echo; echo end', long],
  ])('[S-2] [I-1] commands give their whole output: %s', { timeout }, async (_each, script, stdin) => {
    const outcomes = await manyOf(async () => {
      const command = await startCommand({ command: 'sh', args: ['-c', script] });
      return () => command.call({ stdin }, { maxAttempts: 1 });
    });
    const whole = { reason: 'exit', stdout: { text: expect.stringMatching(/^begin\n[^]*end\n$/) as string } };
    for (const outcome of outcomes) expect(outcome).toMatchObject({ ok: true, value: whole });
  });

  it('[S-2] [I-1] commands whose output goes on to be held are no successes with less', { timeout }, async () => {
    const outcomes = await manyOf(async () => {
      const command = await startCommand({ command: 'sh', args: ['-c', 'echo begin; sleep 1000 & exit 0'] });
      return () => command.call({}, { maxAttempts: 1 });
    });
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ ok: false, failure: { reason: 'output_cut', outcome: 'unknown' } });
  });

  it('[S-2] [C-1] [R-12] a Claude that acted on 500 kB gives its words, and acts once', { timeout }, async () => {
    const { acted, ...program } = actingAgent('claude', 'ok');
    const results = await manyOf(async () => {
      const claude = createClaude({ ...program, timeout: 500, log: false, logger: false });
      onTestFinished(() => claude.stop());
      return (n) => claude.invokeClaude(`turn-${n} ${long}`);
    });
    for (const [n, result] of results.entries())
      expect(result).toMatchObject({ success: true, output: `did turn-${n}`, attempts: 1 });
    expect(acted()).toEqual(once);
  });

  it('[R-5] a 529 that Claude prints at its end is told as overloaded', { timeout }, async () => {
    const { acted, ...program } = actingAgent('claude', 'overloaded');
    const args = [...program.args, '-p', '--output-format', 'stream-json', '--verbose'];
    const outcomes = await manyOf(async () => {
      const command = await startCommand({ ...program, agent: 'claude', args });
      return (n) => command.call({ prompt: `turn-${n} ` }, { maxAttempts: 1 });
    });
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ ok: false, failure: { kind: 'overloaded', status: 529, outcome: 'unknown' } });
    expect(acted()).toEqual(once);
  });

  it('[R-5] a 529 that a plain command prints at its end is told as overloaded', { timeout }, async () => {
    const args = ['-c', 'echo begin; echo "API Error: 529 Overloaded" >&2; exit 1'];
    const outcomes = await manyOf(async () => {
      const command = await startCommand({ command: 'sh', args });
      return () => command.call({}, { maxAttempts: 1 });
    });
    for (const outcome of outcomes) expect(outcome).toMatchObject({ ok: false, failure: { kind: 'overloaded' } });
  });

  it.each([
    ['ok', { ok: true, value: { agent: { text: expect.stringMatching(/^did turn-\d+$/) as string } } }],
    ['failed', { ok: false, failure: { kind: 'transient', outcome: 'unknown', attempts: 1 } }],
  ])(
    '[S-10] [R-12] a Codex that acted is never one that did not start, and acts once: %s',
    { timeout },
    async (end, expected) => {
      const { acted, ...program } = actingAgent('codex', end);
      const outcomes = await manyOf(async () => {
        const command = await startCommand({ ...program, args: [...program.args, 'exec', '--json'], agent: 'codex' });
        return (n) => command.call({ prompt: `turn-${n} ` }, { maxAttempts: 3 });
      });
      for (const outcome of outcomes) expect(outcome).toMatchObject(expected);
      expect(acted()).toEqual(once);
    },
  );

  it.each<[string, string, HookOptions]>([
    ['an observer', `cat >/dev/null; echo '${deny}'`, {}],
    ['a guard that leaves a process behind', `cat >/dev/null; echo '${deny}'; sleep 1000 &`, { onFailure: 'block' }],
    ['a guard whose answer is cut', `cat >/dev/null; printf '{"decision":'; sleep 1000 &`, { onFailure: 'block' }],
  ])('[H-2] hooks that deny by JSON do so: %s', { timeout }, async (_each, script, options) => {
    const verdicts = await manyOf(async () => {
      const gateway = makeGateway();
      const hook = { command: 'sh', args: ['-c', script] };
      gateway.hook('PreToolUse', hook, { name: 'guard', overallMs: 500_000, ...options });
      await gateway.start();
      return () => gateway.runHooks({ event: 'PreToolUse', action: 'Bash' });
    });
    for (const verdict of verdicts) expect(verdict).toMatchObject({ decision: 'block' });
  });
});
