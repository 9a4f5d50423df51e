import { describe, expect, it } from 'vitest';
import { commandHookInput, judgeCommandHook, readBackground } from '../../src/protocol/commandHook.ts';
import { canBlock, hookLimitMs, mayBlockOnFailure } from '../../src/protocol/hookEvents.ts';
import { readHookInput } from '../../cli/hook/hostInput.ts';

const judge = (event: string, exitCode: number, stdout = '', stderr = '') =>
  judgeCommandHook(event, { exitCode, stdout, stderr });
const judgeJson = (event: string, output: object) => judge(event, 0, JSON.stringify(output));
const specific = (fields: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } });

describe('the end of a command hook', () => {
  it.each(['', 'some text', '{"decision":"block","rea', '{"decision":"approve"}\n{"deci'])(
    '[H-2] is a failure with exit 0 where the end of the output is not known: %j',
    (stdout) => {
      const verdict = judgeCommandHook('PreToolUse', { exitCode: 0, stdout, stderr: '', isCut: true });
      expect(verdict).toMatchObject({ ok: false, message: expect.stringContaining('holds its output') as string });
    },
  );

  it('[H-2] is what it said all the same where that was whole', () => {
    const cut = (exitCode: number, stdout: string) =>
      judgeCommandHook('PreToolUse', { exitCode, stdout, stderr: 'no', isCut: true });
    expect(cut(2, '{"decision":"appr')).toMatchObject({ ok: true, answer: { decision: 'block', reason: 'no' } });
    expect(cut(0, '{"decision":"block"}\n')).toMatchObject({ ok: true, answer: { decision: 'block' } });
    expect(cut(0, '{"async":true}\nmore')).toMatchObject({ ok: true, answer: { background: true } });
    expect(cut(3, '')).toEqual({ ok: false, message: 'no' });
  });

  it('[H-2] goes on with exit 0', () => {
    expect(judge('PreToolUse', 0)).toEqual({ ok: true, answer: { decision: 'continue' } });
  });

  it('[H-2] blocks with exit 2 and stderr as the reason, whatever stdout says', () => {
    const verdict = judge('PreToolUse', 2, '{"decision":"approve"}', 'not on Fridays\n');
    expect(verdict).toEqual({ ok: true, answer: { decision: 'block', reason: 'not on Fridays' } });
  });

  it.each([1, 3, 126, 127, 255])('[H-2] is a failure, and no block, with exit %i', (exitCode) => {
    expect(judge('PreToolUse', exitCode, '', 'Traceback')).toEqual({ ok: false, message: 'Traceback' });
    expect(judge('PreToolUse', exitCode)).toEqual({ ok: false, message: `It exited with ${exitCode}` });
  });

  it.each(['SessionStart', 'SessionEnd', 'Notification'])(
    '[H-2] cannot block %s, but tells why it wanted to',
    (event) => {
      expect(judge(event, 2, '', 'no')).toMatchObject({ ok: true, answer: { decision: 'continue', reason: 'no' } });
    },
  );

  it('[H-2] takes plain text for context where the host does, and for nothing elsewhere', () => {
    expect(judge('UserPromptSubmit', 0, 'on branch main\n')).toMatchObject({
      answer: { additionalContext: 'on branch main' },
    });
    expect(judge('SessionStart', 0, 'hello')).toMatchObject({ answer: { additionalContext: 'hello' } });
    expect(judge('PreToolUse', 0, 'hello')).toEqual({ ok: true, answer: { decision: 'continue' } });
  });

  it('[H-2] lets an unknown event pass, and block', () => {
    expect(judge('PreLunch', 0, 'text')).toEqual({ ok: true, answer: { decision: 'continue' } });
    expect(judge('PreLunch', 2, '', 'no')).toMatchObject({ ok: true, answer: { decision: 'block', reason: 'no' } });
  });
});

describe('the JSON output of a command hook', () => {
  it.each([
    [
      { decision: 'block', reason: 'r' },
      { decision: 'block', reason: 'r' },
    ],
    [
      { decision: 'approve', reason: 'r' },
      { decision: 'continue', permission: 'allow', reason: 'r' },
    ],
    [
      specific({ permissionDecision: 'deny', permissionDecisionReason: 'r' }),
      { decision: 'block', permission: 'deny', reason: 'r' },
    ],
    [specific({ permissionDecision: 'allow' }), { decision: 'continue', permission: 'allow' }],
    [specific({ permissionDecision: 'ask' }), { decision: 'continue', permission: 'ask' }],
    [specific({ permissionDecision: 'defer' }), { decision: 'continue', permission: 'defer' }],
    [
      specific({ decision: { behavior: 'deny', message: 'm' } }),
      { decision: 'block', permission: 'deny', reason: 'm' },
    ],
    [
      specific({ decision: { behavior: 'allow', updatedInput: { a: 1 } } }),
      { permission: 'allow', updatedInput: { a: 1 } },
    ],
    [specific({ updatedInput: { command: 'ls' } }), { decision: 'continue', updatedInput: { command: 'ls' } }],
    [specific({ additionalContext: 'c' }), { decision: 'continue', additionalContext: 'c' }],
    [
      { continue: false, stopReason: 's' },
      { decision: 'block', stop: { reason: 's' }, reason: 's' },
    ],
    [
      { continue: true, suppressOutput: true, systemMessage: 'm' },
      { decision: 'continue', suppressOutput: true, systemMessage: 'm' },
    ],
    [{ fieldOfTheFuture: 1 }, { decision: 'continue', output: { fieldOfTheFuture: 1 } }],
  ])('[H-2] is honoured: %j', (output, answer) => {
    expect(judgeJson('PreToolUse', output)).toMatchObject({ ok: true, answer });
  });

  it('[H-2] is a deny when it says both', () => {
    const output = { decision: 'approve', ...specific({ permissionDecision: 'deny' }) };
    expect(judgeJson('PreToolUse', output)).toMatchObject({ answer: { decision: 'block', permission: 'deny' } });
    const both = specific({ permissionDecision: 'allow', decision: { behavior: 'deny' } });
    expect(judgeJson('PreToolUse', both)).toMatchObject({ answer: { decision: 'block', permission: 'deny' } });
  });

  it.each([
    [{ decision: 'blok' }, 'decision is not one of approve, block'],
    [{ continue: 'no' }, 'continue is not true or false'],
    [{ hookSpecificOutput: 'deny' }, 'hookSpecificOutput is not an object'],
    [
      specific({ permissionDecision: 'denied' }),
      'hookSpecificOutput.permissionDecision is not one of allow, deny, ask, defer',
    ],
    [
      specific({ decision: { behavior: 'no' } }),
      'hookSpecificOutput.decision is not an object with behavior allow or deny',
    ],
  ])('[H-2] is a failure that names the field when it cannot be read: %j', (output, problem) => {
    expect(judgeJson('PreToolUse', output)).toEqual({
      ok: false,
      message: `Its JSON is not as documented: ${problem}`,
    });
  });

  it('[H-2] is a failure when it starts like JSON and is none', () => {
    expect(judge('PreToolUse', 0, '{"decision": "bl')).toMatchObject({ ok: false });
  });

  it('says in its first line that the hook goes on in the background, and for how long', () => {
    expect(readBackground('{"async":true,"asyncTimeout":90000}\nstarted')).toEqual({ limitMs: 90_000 });
    expect(readBackground('{"async":true}')).toEqual({ limitMs: undefined });
    expect(readBackground('{"async":false}')).toBeUndefined();
    expect(readBackground('{"async":tr')).toBeUndefined();
    expect(judge('PostToolUse', 0, '{"async":true}\nstarted')).toMatchObject({
      ok: true,
      answer: { background: true },
    });
  });
});

describe('the input of a command hook', () => {
  it('[H-2] is one JSON object with the names of the host', () => {
    const request = { event: 'PreToolUse', action: 'Bash', session: 's1', payload: { tool_input: { command: 'ls' } } };
    expect(JSON.parse(commandHookInput(request, '/work'))).toEqual({
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      session_id: 's1',
      cwd: '/work',
      tool_input: { command: 'ls' },
    });
  });

  it('does not let the payload name another event', () => {
    const text = commandHookInput({ event: 'Stop', payload: { hook_event_name: 'PreToolUse', cwd: '/here' } }, '/work');
    expect(JSON.parse(text)).toEqual({ hook_event_name: 'Stop', cwd: '/here' });
    expect(JSON.parse(commandHookInput({ event: 'Stop', payload: [1] }, '/'))).toMatchObject({ payload: [1] });
  });

  it('is read for event, session and tool; what is no such object says nothing', () => {
    const fields = { hook_event_name: 'PreToolUse', session_id: 's1', tool_name: 'Bash', tool_input: { a: 1 } };
    const about = { event: 'PreToolUse', session: 's1', action: 'Bash', fields };
    expect(readHookInput(JSON.stringify(fields))).toEqual(about);
    const stop = { hook_event_name: 'Stop', session_id: 5 };
    expect(readHookInput(JSON.stringify(stop))).toEqual({ event: 'Stop', action: '', fields: stop });
    for (const text of ['', 'text', '[]', 'null', '{}', '{"hook_event_name":""}']) {
      expect(readHookInput(text)).toBeUndefined();
    }
  });
});

describe('the events of hooks', () => {
  it.each([
    ['SessionEnd', 1200],
    ['MessageDisplay', 8000],
    ['UserPromptSubmit', 25_000],
    ['PreToolUse', 55_000],
    ['PreLunch', 55_000],
    [undefined, 10_000],
  ])('[H-3] give %s a limit below what its host waits', (event, limitMs) => {
    expect(hookLimitMs(event)).toBe(limitMs);
  });

  it('[H-3] that have the agent go on working are never blocked by a failure', () => {
    for (const event of ['Stop', 'SubagentStop', 'TaskCompleted', 'TeammateIdle'])
      expect(mayBlockOnFailure(event)).toBe(false);
    for (const event of ['PreToolUse', 'PreLunch', undefined, 'toString']) expect(mayBlockOnFailure(event)).toBe(true);
  });

  it('can be blocked when they are not known', () => {
    expect(canBlock('constructor')).toBe(true);
    expect(canBlock('SessionEnd')).toBe(false);
  });
});
