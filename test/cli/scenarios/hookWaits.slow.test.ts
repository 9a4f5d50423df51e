import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { program, request, startHook } from '../startHook.ts';

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

describe('a hook whose host waits', () => {
  it('[H-3] [I-3] because it hangs is ended with all below it, and exits 0', async () => {
    const { run, noneLeft, events } = startHook();
    const { code, stdout, stderr } = await run(['--timeout', '3s', '--', ...program('hang')], request('PreToolUse'));
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('It did not end within 3s and was ended');
    await noneLeft();
    expect(await events()).toMatchObject([{ event: 'hook/error', hook_name: 'hook.mjs' }]);
  });

  it('[H-3] keeps its output for a host that reads slowly', async () => {
    const { start } = startHook();
    const slow = start(['--timeout', '10m', '--', 'sh', '-c', 'head -c 1048576 /dev/zero']);
    await once(slow.stdout, 'readable');
    // It waits for its host for 2 s, however little time there is.
    const hurried = start(['--timeout', '4s', '--', 'sh', '-c', 'head -c 1048576 /dev/zero']);
    await once(hurried, 'exit');
    expect((await buffer(slow.stdout)).length).toBe(1024 * 1024);
    expect(await exitOf(slow)).toBe(0);
  });

  it.each([
    ['allow', 'exit 0', 0, 'going on without it'],
    ['block', 'exit 0', 2, 'it is a guard, so this is declined'],
    ['allow', 'exit 3', 3, 'going on without it'],
  ])('[H-3] with --on-failure %s says that nobody read its output of %s', async (onFailure, end, code, consequence) => {
    const { start } = startHook();
    const much = `head -c 1048576 /dev/zero; ${end}`;
    const child = start(['--timeout', '4s', '--name', 'big', '--on-failure', onFailure, '--', 'sh', '-c', much]);
    const stderr = text(child.stderr);
    expect(await exitOf(child)).toBe(code);
    expect(await stderr).toBe(`unwedge: hook big: Its output could not be passed on in full; ${consequence}\n`);
  });
});
