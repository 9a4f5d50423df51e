import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../actors/mcp/mcpHarness.ts';
import { builtAcpAgent } from '../../support/acpWire.ts';
import { makeHome } from '../startMcp.ts';
import { runBuilt } from '../startCli.ts';
import { program } from '../startHook.ts';
import { main } from '../startRun.ts';

const request = (id: number, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params });
const asks = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}';
const elicits = {
  ...{ do: 'ask', method: 'elicitation/create', askId: 'q1' },
  params: { message: 'Deploy?', requestedSchema: { type: 'object', properties: {} } },
};

/** Wrappers with an inbox, each with what it is sent until a person is asked. */
const wrappers = {
  mcp: (): Wrapper => ({
    words: ['mcp', '--inbox', '--', process.execPath, fixture('mcpScripted'), makeHome().directory],
    input: [
      request(0, 'initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      request(1, 'tools/call', { name: 'act', arguments: elicits }),
    ],
  }),
  acp: (): Wrapper => {
    const { command, args } = builtAcpAgent({ stateFile: join(makeHome().directory, 'sessions.json') });
    return {
      words: ['acp', '--inbox', '--', command, ...args],
      input: [
        request(0, 'initialize', { protocolVersion: 1, clientCapabilities: {} }),
        request(1, 'session/new', { cwd: '/', mcpServers: [] }),
        request(2, 'session/prompt', { sessionId: 'session-1', prompt: [{ type: 'text', text: 'ask edit' }] }),
      ],
    };
  },
  hook: (): Wrapper => ({
    words: ['hook', '--inbox', '--host-timeout', '10m', '--', ...program('print', asks)],
    input: [{ hook_event_name: 'PreToolUse', session_id: 's1', tool_name: 'Bash', tool_use_id: 't1', tool_input: {} }],
    endsInput: true,
  }),
} as const;

interface Wrapper {
  readonly words: readonly string[];
  readonly input: readonly object[];
  readonly endsInput?: boolean;
}

/** A wrapper behind which a person is asked. */
async function startAsking({ words, input, endsInput = false }: Wrapper) {
  const home = makeHome();
  const env = { ...(home.env as Record<string, string>), UNWEDGE_DB: join(home.directory, 'asked.sqlite') };
  const child: ChildProcess = spawn(process.execPath, [main, ...words], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let said = '';
  child.stdout?.on('data', (chunk) => (said += String(chunk)));
  onTestFinished(() => void child.kill('SIGKILL'));
  const open = async () =>
    JSON.parse((await runBuilt(['inbox', '--json'], env)).stdout || '[]') as { readonly id: string }[];
  // One at a time: an agent answers in order, and a session is made before it is spoken to. The last waits for the person.
  for (const message of input) {
    child.stdin?.write(`${JSON.stringify(message)}\n`);
    const answer = 'id' in message && message !== input.at(-1) ? `"id":${String(message.id)}` : '';
    await expect.poll(() => said, { timeout: 20_000 }).toContain(answer);
  }
  if (endsInput) child.stdin?.end();
  await expect.poll(open, { timeout: 20_000 }).toHaveLength(1);
  const [question] = await open();
  return { env, child, open, id: question?.id ?? '' };
}

describe('a question whose asker has ended', () => {
  it.each(
    (['SIGTERM', 'SIGKILL'] as const).flatMap((signal) =>
      (['mcp', 'acp', 'hook'] as const).map((wrapper) => [wrapper, signal, signal === 'SIGTERM' ? 1 : 0] as const),
    ),
  )(
    '[G-17] of unwedge %s by %s is asked no more, and who answers it hears that nobody waits',
    async (wrapper, signal, told) => {
      const { env, child, open, id } = await startAsking(wrappers[wrapper]());
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      expect(await open()).toEqual([]);
      expect((await runBuilt(['inbox'], env)).stdout).toBe('Nobody asks a person.\n');
      expect((await runBuilt(['status'], env)).stdout).not.toContain('question');
      const { code, stderr } = await runBuilt(['inbox', 'answer', id, '--allow'], env);
      expect([code, stderr]).toEqual([1, expect.stringContaining('nobody waits for its answer any more')]);
      const events = (await runBuilt(['events'], env)).stdout;
      expect(events).not.toContain('question/answered');
      expect(events.match(/question\/withdrawn/g) ?? []).toHaveLength(told);
    },
  );
});
