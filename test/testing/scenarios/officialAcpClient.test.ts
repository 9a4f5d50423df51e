import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FaultyAcpAgentOptions, inProcessAcpAgent } from '../../../testing/index.ts';
import { officialAcpClient } from '../../support/officialAcp.mjs';
import { temporaryDirectory } from '../../support/temporary.ts';

async function open(options: FaultyAcpAgentOptions = {}, optionId?: string) {
  const agent = inProcessAcpAgent(options);
  const client = officialAcpClient(agent, optionId);
  onTestFinished(() => {
    client.connection.close();
    agent.kill();
  });
  const greeting = await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await client.request('session/new', { cwd: '/', mcpServers: [] });
  const prompt = (text: string) => client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  return { agent, ...client, greeting, sessionId, prompt };
}

const kinds = (updates: readonly { readonly sessionUpdate: string }[]) => updates.map((each) => each.sessionUpdate);

describe('the official client of the Agent Client Protocol', () => {
  it('[A-7] takes a turn of the agent for what it is', async () => {
    const { greeting, prompt, updates } = await open();
    expect(greeting).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
    expect(await prompt('think 0; say hello; tool look')).toMatchObject({ stopReason: 'end_turn' });
    expect(kinds(updates)).toEqual([
      'agent_thought_chunk',
      'agent_message_chunk',
      'tool_call',
      'tool_call_update',
      'tool_call_update',
      'usage_update',
    ]);
  });

  it.each(['allow_once', 'reject_once'])('[A-7] answers its permission: %s', async (optionId) => {
    const { prompt, updates } = await open({}, optionId);
    expect(await prompt('ask pay')).toMatchObject({ stopReason: 'end_turn' });
    const status = optionId === 'allow_once' ? 'completed' : 'failed';
    expect(updates.filter((each) => each.sessionUpdate === 'tool_call_update')).toMatchObject([{ status }]);
  });

  it('[A-7] cancels it', async () => {
    const { prompt, connection, sessionId } = await open();
    const end = prompt('wait 1000');
    await connection.agent.notify('session/cancel', { sessionId });
    expect(await end).toMatchObject({ stopReason: 'cancelled' });
  });

  it('[A-7] loads its session in a second life', async () => {
    const stateFile = join(temporaryDirectory(), 'state');
    const first = await open({ stateFile });
    await first.prompt('say hello');
    first.agent.kill();
    const { request, updates } = await open({ stateFile });
    await request('session/load', { sessionId: 'session-1', cwd: '/', mcpServers: [] });
    expect(kinds(updates)).toEqual(['user_message_chunk', 'agent_message_chunk', 'usage_update']);
  });

  it('[A-7] gets errors as they are, and its end', async () => {
    const failing = await open({ faults: [{ do: 'error', code: 429, message: 'busy' }] });
    await expect(failing.prompt('say one')).rejects.toMatchObject({ code: 429, message: 'busy' });
    const dying = await open({ faults: [{ at: 'text', do: 'crash' }] });
    await expect(dying.prompt('say one')).rejects.toThrow('ACP connection closed');
    const unterminated = await open({ faults: [{ do: 'crash', when: 'unterminated' }] });
    expect(await unterminated.prompt('say one')).toMatchObject({ stopReason: 'end_turn' });
  });

  it('[A-7] passes over what it does not know', async () => {
    const complain = vi.spyOn(console, 'error').mockReturnValue();
    const { prompt, updates } = await open({
      faults: [{ do: 'strange', what: 'update' }, { do: 'strange', what: 'request' }, { do: 'noise' }],
    });
    expect(await prompt('say one')).toMatchObject({ stopReason: 'end_turn' });
    expect(kinds(updates)).toEqual(['agent_message_chunk', 'usage_update']);
    expect(complain).toHaveBeenCalled();
  });
});
