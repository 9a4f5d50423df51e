import { describe, expect, it } from 'vitest';
import { agentCommand } from '../../../src/protocol/agentCommand.ts';
import { createAgentStream } from '../../../src/protocol/agentStream.ts';
import { type AgentProfileOptions, profilesFrom } from '../../../src/protocol/agents/profileKeys.ts';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';

const nova: AgentProfileOptions = {
  commands: ['nova'],
  title: 'Nova',
  headless: { words: ['ask'] },
  formats: { words: { '--lines': 'stream-json' } },
  output: {
    stream: {
      session: 'run.id',
      rules: [
        { when: { kind: 'say' }, means: 'text', text: ['words'] },
        { when: { kind: 'act' }, means: 'tool', id: 'id', name: 'tool' },
        { when: { kind: 'end', code: 0 }, means: 'done' },
        { when: { kind: 'end' }, means: 'failed', text: ['why'], status: 'code' },
      ],
    },
  },
  readOnlyTools: ['look'],
};

/** What an agent of one's own said, by its profile. */
function report(profile: AgentProfileOptions, words: readonly string[], lines: readonly object[]) {
  const { agentProfiles } = checkGatewayOptions({ agentProfiles: { nova: profile } });
  const command = agentCommand('/opt/nova', words, 'auto', agentProfiles);
  if (command === undefined) return undefined;
  const stream = createAgentStream(command);
  stream.push(Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
  stream.end();
  return { format: command.format, ...stream.report(0) };
}

describe("an agent of the user's own", () => {
  it('[A-1] is known by its command, and read by its rules', () => {
    const said = [
      { kind: 'act', id: 1, tool: 'look', run: { id: 'r-1' } },
      { kind: 'say', words: 'It is ' },
      { kind: 'say', words: 'done.' },
      { kind: 'end', code: 0 },
    ];
    expect(report(nova, ['ask', '--lines'], said)).toMatchObject({
      ...{ format: 'stream-json', agent: 'nova', text: 'It is done.', sessionId: 'r-1' },
      ...{ effects: 'none', concluded: true, failure: undefined, calls: { tools: 1 } },
    });
  });

  it('[A-1] has answers of any length', () => {
    const words = 'x'.repeat(300_000);
    const said = [
      { kind: 'say', words },
      { kind: 'end', code: 0 },
    ];
    expect(report(nova, ['ask', '--lines'], said)?.text).toBe(words);
  });

  it('[A-1] fails by its own word', () => {
    const said = [
      { kind: 'act', id: 1, tool: 'write' },
      { kind: 'end', code: 503, why: 'busy' },
    ];
    expect(report(nova, ['ask', '--lines'], said)).toMatchObject({
      effects: 'possible',
      text: undefined,
      failure: { kind: 'transient', status: 503 },
    });
  });

  it('[A-1] has called a tool by each message on one, where these have no id', () => {
    const said = [
      { kind: 'act', tool: 'look' },
      { kind: 'act', tool: 'look' },
      { kind: 'end', code: 0 },
    ];
    expect(report(nova, ['ask', '--lines'], said)).toMatchObject({ calls: { tools: 2 } });
  });

  it('[A-1] has not ended where it goes on after an end', () => {
    const said = [
      { kind: 'say', words: 'One' },
      { kind: 'end', code: 0 },
      { kind: 'say', words: ' two' },
    ];
    expect(report(nova, ['ask', '--lines'], said)).toMatchObject({ concluded: false, text: undefined });
  });

  it('[A-1] is none without the words by which it answers once', () => {
    expect(report(nova, ['serve'], [])).toBeUndefined();
    expect(report(nova, ['ask'], [])).toMatchObject({ format: 'text', effects: 'unknown' });
  });

  it('[A-1] may be like one that is known', () => {
    const said = [
      { type: 'message', role: 'assistant', content: 'Hello' },
      { type: 'result', status: 'success' },
    ];
    const qwen = { commands: ['nova'], like: 'gemini' } as const;
    expect(report(qwen, ['-p', 'hi', '-o', 'stream-json'], said)).toMatchObject({ agent: 'nova', text: 'Hello' });
    expect(profilesFrom({ nova: qwen })['nova']).toMatchObject({ title: 'nova', exits: 'status', packages: [] });
  });

  it.each([
    [{}, '`agentProfiles.nova.commands`'],
    [{ commands: ['nova'], like: 'nobody' }, '`agentProfiles.nova.like`'],
    [{ commands: ['nova'], outputs: {} }, '`agentProfiles.nova.outputs`'],
    [{ commands: ['nova'], output: { stream: { rules: [{ when: {}, means: 'gone' }] } } }, 'rules[0].means'],
    [{ commands: ['nova'], kinds: [{ pattern: 'x', kind: 'bad' }] }, 'kinds[0].kind'],
  ])('[A-1] is refused where its profile is none: %o', (wrong, message) => {
    const options = { agentProfiles: { nova: wrong as unknown as AgentProfileOptions } };
    expect(() => checkGatewayOptions(options)).toThrow(message);
  });
});
