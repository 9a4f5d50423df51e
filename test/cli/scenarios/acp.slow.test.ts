import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FaultyAcpAgentOptions } from '../../../testing/index.ts';
import { builtAcpAgent, rawAcpClient } from '../../support/acpWire.ts';
import { officialAcpClient } from '../../support/officialAcp.mjs';
import { converseWith } from '../../support/wire.ts';
import { gone } from '../../actors/mcp/mcpHarness.ts';
import { main } from '../startRun.ts';
import { makeHome } from '../startMcp.ts';
import { runBuilt } from '../startCli.ts';

/** `unwedge acp` before the faulty agent, as an editor starts it. */
function startEditor(options: FaultyAcpAgentOptions = {}, own: readonly string[] = []) {
  const { directory, env: given } = makeHome();
  const env = { ...given } as Record<string, string>;
  const { command, args } = builtAcpAgent({ stateFile: join(directory, 'sessions.json'), ...options });
  const peer = converseWith(process.execPath, [main, 'acp', '--name', 'faulty', ...own, '--', command, ...args], env);
  return { ...peer, ...rawAcpClient(peer.child), directory, env };
}

/** The official client over `unwedge acp`, in a session. */
async function openOfficial(options: FaultyAcpAgentOptions) {
  const { command, args } = builtAcpAgent({ stateFile: join(makeHome().directory, 'sessions.json'), ...options });
  const env = { ...makeHome().env } as Record<string, string>;
  const child = spawn(process.execPath, [main, 'acp', '--cancel-timeout', '500ms', '--', command, ...args], {
    env,
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill());
  const { request, updates, connection } = officialAcpClient({ stdin: child.stdin, stdout: child.stdout });
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await request('session/new', { cwd: '/', mcpServers: [] });
  const prompt = (text: string) => request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  const cancel = () => connection.agent.notify('session/cancel', { sessionId });
  return { prompt, cancel, text: () => updates.map(({ content }) => content?.text ?? '').join('') };
}

const childIn = (text: string): number => Number(/child (\d+)/.exec(text)?.[1]);

describe('unwedge acp', () => {
  it('[A-3] [S-2] ends an agent that is killed in a turn with its children, loads its session, and answers the next prompt', async () => {
    const editor = startEditor({
      faults: [
        { start: 1, prompt: 'die', do: 'child' },
        { start: 1, prompt: 'die', at: 'text', do: 'crash', signal: 'SIGKILL' },
      ],
    });
    await editor.open();
    editor.prompt(1, 'say die');
    const lost = await editor.answer(1);
    expect(lost.messages.at(-1)).toMatchObject({
      error: { data: { 'unwedge/failure': { kind: 'crash', outcome: 'unknown' } } },
    });
    await gone(childIn(lost.text));
    editor.prompt(2, 'say hello');
    const next = await editor.answer(2);
    expect(next.text).toBe('hello');
    expect(next.messages.at(-1)).toMatchObject({ result: { stopReason: 'end_turn' } });
    editor.child.stdin.end();
    expect(await editor.exit).toEqual([0, null]);
    const { stdout } = await runBuilt(['events', '--json'], editor.env);
    expect(stdout).toContain('session_loaded');
  });

  it('[A-3] ends an agent that is stopped, and does not hear a cancel', async () => {
    const editor = startEditor({ faults: [{ start: 1, at: 'text', do: 'hang', scope: 'agent' }] }, [
      '--cancel-timeout',
      '500ms',
    ]);
    await editor.open();
    editor.prompt(1, 'say one');
    await editor.until(({ method }) => method === 'session/update');
    editor.cancel();
    editor.prompt(2, 'say two');
    expect((await editor.answer(1)).messages.at(-1)).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect((await editor.answer(2)).text).toBe('two');
  });

  it('[A-3] [S-2] leaves nothing behind when its editor is gone, of an agent that hears neither the end of its input nor SIGTERM', async () => {
    const editor = startEditor({ stdinEnd: 'stay', ignoreSigterm: true, faults: [{ at: 'before', do: 'child' }] });
    await editor.open();
    editor.prompt(1, 'say hello');
    const child = childIn((await editor.answer(1)).text);
    editor.child.stdin.end();
    expect(await editor.exit).toEqual([expect.anything(), null]);
    await gone(child);
  });

  it('[A-3] [S-2] its agent ends with it when it is killed itself', async () => {
    const editor = startEditor({ faults: [{ do: 'child' }] });
    await editor.open();
    editor.prompt(1, 'say hello; wait 600');
    const { text } = await editor.until(({ params }) => JSON.stringify(params).includes('hello'));
    editor.child.kill('SIGKILL');
    await gone(childIn(text));
    expect(await editor.exit).toEqual([null, 'SIGKILL']);
  });

  it('[A-3] says that no editor was there, that a command is missing, and which option is wrong', async () => {
    const alone = converseWith(process.execPath, [main, 'acp', '--', 'no-such-agent'], { ...makeHome().env } as Record<
      string,
      string
    >);
    alone.child.stdin.end();
    expect(await alone.exit).toEqual([1, null]);
    expect(await alone.error()).toMatch(/stdin ended before an editor said anything/);
    const env = { ...makeHome().env } as Record<string, string>;
    expect(await runBuilt(['acp'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No command given') as string,
    });
    expect(await runBuilt(['acp', '--errors', 'loud', '--', 'x'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--errors') as string,
    });
  });

  it('[A-3] an agent that cannot be started is an error that says so', async () => {
    const editor = converseWith(process.execPath, [main, 'acp', '--', 'no-such-agent'], { ...makeHome().env } as Record<
      string,
      string
    >);
    const client = rawAcpClient(editor.child);
    client.request(1, 'initialize', { protocolVersion: 1 });
    const { messages } = await client.answer(1);
    expect(messages.at(-1)?.error?.['message']).toMatch(/no-such-agent cannot be started: .*there is no such command/);
    editor.child.stdin.end();
    await editor.exit;
  });

  it('[A-3] sends a prompt to its agent once, whatever becomes of that', async () => {
    const editor = startEditor({ faults: [{ start: 1, at: 'end', do: 'crash' }] });
    const file = join(editor.directory, 'effects');
    await editor.open();
    editor.prompt(1, `append ${file} paid`);
    expect((await editor.answer(1)).messages.at(-1)?.error).toBeDefined();
    editor.prompt(2, 'say done');
    await editor.answer(2);
    expect(readFileSync(file, 'utf8')).toBe('paid\n');
  });

  it('[A-3] gives the official client a failure and then the next answer, of an agent that dies in its text', async () => {
    const { prompt, text } = await openOfficial({ faults: [{ start: 1, at: 'text', do: 'crash', signal: 'SIGKILL' }] });
    await expect(prompt('say one')).rejects.toMatchObject({ data: { 'unwedge/failure': { kind: 'crash' } } });
    expect(await prompt('say two')).toMatchObject({ stopReason: 'end_turn' });
    expect(text()).toContain('two');
  });

  it('[A-3] gives the official client the end that it asked for, of an agent that is deaf to it', async () => {
    const { prompt, cancel, text } = await openOfficial({ faults: [{ on: 'session/cancel', do: 'hang' }] });
    const end = prompt('say one; wait 600');
    await vi.waitFor(() => expect(text()).toContain('one'), 10_000);
    await cancel();
    expect(await end).toMatchObject({ stopReason: 'cancelled' });
  });
});
