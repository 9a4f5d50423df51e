import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../cli/errors.ts';
import { readHookArgs } from '../../../cli/hook/hookArgs.ts';
import { openDatabase } from '../../store/startStore.ts';
import { startHook } from '../startHook.ts';

const guard = ['--guard', 'spinning'];
const call = { session_id: 's1', tool_name: 'Read', tool_input: { file_path: '/srv/a' }, prompt_id: 'p1' };
const about = (event: string, more: object = {}): string =>
  JSON.stringify({ hook_event_name: event, ...call, ...more });
const failed = about('PostToolUseFailure', { error: 'File does not exist.', duration_ms: 3 });

describe('unwedge hook --guard spinning', () => {
  it('[H-5] counts on from process to process, and what several learn at once', async () => {
    const { run, events } = startHook();
    const first = await Promise.all(Array.from({ length: 5 }, () => run(guard, failed)));
    expect(first).toEqual(first.map(() => ({ code: 0, signal: undefined, stdout: '', stderr: '' })));
    const sixth = await run(guard, failed);
    expect(JSON.parse(sixth.stdout)).toMatchObject({
      hookSpecificOutput: { additionalContext: expect.stringContaining('Read was called 6 times') as string },
    });
    for (let batch = 0; batch < 7; batch++) await Promise.all([run(guard, failed), run(guard, failed)]);
    const { code, stdout } = await run(guard, about('PreToolUse'));
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { continue: false, hookSpecificOutput: { permissionDecision: 'deny' } },
    ]);
    const other = about('PreToolUse', { tool_input: { file_path: '/srv/b' } });
    expect(await run(guard, other)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect((await events()).at(-1)).toMatchObject({ event: 'session/spinning', session: 's1', step: 'end' });
  });

  it.each([
    ['is not JSON', 'nothing of that'],
    ['is cut', '{"hook_event_name": "PostToolUse"'],
    ['names no session', '{"hook_event_name": "PostToolUse"}'],
    ['is of another event', about('Stop')],
    ['is that of a call that is not judged', about('PreToolUse')],
  ])('[H-5] says nothing, and opens no database, where the input %s', async (_what, input) => {
    const { run, db } = startHook();
    expect(await run(guard, input)).toEqual({ code: 0, signal: undefined, stdout: '', stderr: '' });
    expect(existsSync(db)).toBe(false);
  });

  it('[H-5] says that it cannot judge where nothing is kept, and nothing where it is off', async () => {
    const { run } = startHook();
    const { code, stdout, stderr } = await run([...guard, '--db', ':memory:'], failed);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('It did not judge: no database is kept');
    expect(await run([...guard, '--db', ':memory:', '--spinning', 'off'], failed)).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it('[H-5] goes on without a judgement where its input does not end', async () => {
    const { spawn } = startHook();
    const child = spawn([...guard, '--timeout', '1s']);
    child.stdin.write(failed);
    const { exitCode, stdout } = await child;
    expect([exitCode, stdout.length]).toEqual([0, 0]);
  });

  it('[H-5] goes on, and says why on stderr, where the database is locked for too long', async () => {
    const { run, db } = startHook();
    await run(guard, failed);
    const other = openDatabase(db);
    other.exec('BEGIN EXCLUSIVE');
    const { code, stdout, stderr } = await run([...guard, '--timeout', '2s'], failed);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^unwedge: hook spinning: It did not judge: .*; going on without it\n$/);
  });

  it('[H-5] [L-1] refuses a command, another guard and another step, each by its name', () => {
    expect(() => readHookArgs([...guard, '--', 'true'])).toThrow(UsageError);
    expect(() => readHookArgs(['--guard', 'spining'])).toThrow(/spining.*spinning/);
    expect(() => readHookArgs([...guard, '--spinning', 'stop'])).toThrow(/stop/);
    expect(() => readHookArgs(['--spinning', 'tell', '--', 'true'])).toThrow('`--guard spinning` beside `--spinning`');
    expect(() => readHookArgs(['--spinning', 'tell'])).toThrow('`--guard spinning` beside `--spinning`');
    expect(readHookArgs(guard)).toMatchObject({ spinning: 'end', name: 'spinning' });
    expect(readHookArgs([...guard, '--spinning', 'tell'])).toMatchObject({ spinning: 'tell' });
    expect(readHookArgs(['--', 'true'])).toMatchObject({ spinning: undefined, command: 'true' });
  });
});
