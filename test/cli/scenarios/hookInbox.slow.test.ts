import { describe, expect, it } from 'vitest';
import { runBuilt } from '../startCli.ts';
import { program, startHook } from '../startHook.ts';

const asks =
  '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"is it safe?"}}';
const before = (event = 'PreToolUse') =>
  JSON.stringify({
    ...{ hook_event_name: event, session_id: 's1', tool_name: 'Bash', tool_use_id: 'toolu_1' },
    tool_input: { command: 'rm -rf build' },
  });

/** A hook that asks, and people before another terminal. */
function startAsking(words: readonly string[] = [], hostTimeout = '1m') {
  const hook = startHook(hostTimeout);
  const env = { UNWEDGE_DB: hook.db };
  const ran = hook.run([...words, '--inbox', '--name', 'guard', '--', ...program('print', asks)], before());
  const question = async () => {
    let found: readonly { readonly id: string }[] = [];
    await expect
      .poll(async () => (found = JSON.parse((await runBuilt(['inbox', '--json'], env)).stdout || '[]') as typeof found))
      .toHaveLength(1);
    return found[0] as { readonly id: string };
  };
  const answer = async (...given: readonly string[]) =>
    runBuilt(['inbox', 'answer', (await question()).id, '--by', 'anna', ...given], env);
  return { ...hook, ran, question, answer };
}

const decisionIn = (stdout: string) =>
  (JSON.parse(stdout) as { readonly hookSpecificOutput: object }).hookSpecificOutput;

describe('unwedge hook --inbox', () => {
  it('[G-17] [H-3] has a person answer where its command says ask, and the host told by whom', async () => {
    const hook = startAsking();
    expect(await hook.question()).toMatchObject({
      source: 'hook',
      asker: 'hook:guard',
      session: 's1',
      what: 'use Bash',
      detail: { tool: 'Bash', input: { command: 'rm -rf build' }, reason: 'is it safe?' },
    });
    expect(await hook.answer('--allow')).toMatchObject({ code: 0 });
    const { code, stdout } = await hook.ran;
    expect(code).toBe(0);
    expect(decisionIn(String(stdout))).toMatchObject({
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      permissionDecisionReason: expect.stringContaining('allowed by anna (command)') as string,
    });
  });

  it('[G-17] [H-4] denies what a person declines, and what nobody answers before the host gives up', async () => {
    const declined = startAsking();
    await declined.answer('--deny');
    expect(decisionIn(String((await declined.ran).stdout))).toMatchObject({ permissionDecision: 'deny' });
    const expired = startAsking(['--timeout', '5s'], '10s');
    expect(decisionIn(String((await expired.ran).stdout))).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('nobody answered until') as string,
    });
  });

  it('[H-4] denies where the question cannot be kept', async () => {
    const { run } = startHook();
    const words = ['--db', '/dev/null/none.sqlite', '--inbox', '--', ...program('print', asks)];
    const { stdout } = await run(words, before());
    expect(decisionIn(String(stdout))).toMatchObject({ permissionDecision: 'deny' });
  });

  it('[H-3] passes everything else on as it is: another decision, another event, and ask without the option', async () => {
    const { run } = startHook();
    const allow = '{"hookSpecificOutput":{"permissionDecision":"allow"}}';
    expect(await run(['--inbox', '--', ...program('print', allow)], before())).toMatchObject({ stdout: allow });
    expect(await run(['--inbox', '--', ...program('print', asks)], before('Stop'))).toMatchObject({ stdout: asks });
    expect(await run(['--', ...program('print', asks)], before())).toMatchObject({ stdout: asks });
  });
});
