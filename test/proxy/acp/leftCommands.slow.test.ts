import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endLeftCommands } from '../../../proxy/acp/leftCommands.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';

/** A command of a tool call, with a child of its own; both wait. */
async function startCommand(tool: string) {
  const wait = 'setInterval(() => {}, 1000)';
  const parent = `const c = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(wait)}]); console.log(c.pid); ${wait}`;
  const child = spawn(process.execPath, ['-e', parent], { env: { ...process.env, CODEX_TOOL_CALL_ID: tool } });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return { child, exited: once(child, 'exit') };
}

describe('commands of a turn that was ended', () => {
  it('[A-3] [S-2] are ended with what they started, and those of other tool calls are not', async () => {
    const ours = await startCommand('call-1 of the left commands');
    const other = await startCommand('call-2 of the left commands');
    await endLeftCommands(['call-1 of the left commands', 'call-3'], systemClock);
    await ours.exited;
    expect(other.child.exitCode ?? other.child.signalCode).toBeNull();
  });

  it('[A-3] asks nothing of the system where no tool was under way', async () => {
    await expect(endLeftCommands([], systemClock)).resolves.toBeUndefined();
  });
});
