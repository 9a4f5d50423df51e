import { describe, expect, it } from 'vitest';
import { agentCommand, beginsNamedSession, keepsSession, resumeArgs } from '../../src/protocol/agentCommand.ts';

describe('the agent behind a command', () => {
  it.each([
    ['claude', '-p hi', { agent: 'claude', format: 'text' }],
    ['/usr/bin/claude', '--print hi --output-format json', { agent: 'claude', format: 'json' }],
    ['C:\\bin\\claude.exe', '-p --output-format=stream-json --verbose', { agent: 'claude', format: 'stream-json' }],
    ['claude', '-p -- --output-format json', { agent: 'claude', format: 'text' }],
    ['claude', 'mcp list', undefined],
    ['claude', '-- -p', undefined],
    ['codex', 'exec --json hi', { agent: 'codex', format: 'stream-json' }],
    ['codex', 'exec hi', { agent: 'codex', format: 'text' }],
    ['codex', 'app-server', undefined],
    ['npx', '-y @anthropic-ai/claude-code@2 -p hi', { agent: 'claude', format: 'text' }],
    ['npx', '@openai/codex exec --experimental-json', { agent: 'codex', format: 'stream-json' }],
    ['npx', 'prettier claude -p', undefined],
    ['claude-lint', '-p', undefined],
    ['git', 'commit -p', undefined],
  ])('[S-10] of %s %s is %o', (command, args, expected) => {
    expect(agentCommand(command, args.split(' '))).toEqual(expected);
  });

  it.each(['gemini --prompt=hello', 'copilot --prompt=hello'])(
    '[A-2] is known by an option with its value: %s',
    (line) => {
      const [command = '', ...args] = line.split(' ');
      expect(agentCommand(command, args)).toMatchObject({ agent: command, format: 'text' });
      expect(agentCommand(command, [...args, '-i'])).toBeUndefined();
    },
  );

  it('[S-10] is the one that is named, or none on demand', () => {
    expect(agentCommand('my-wrapper', ['--json'], 'codex')).toEqual({ agent: 'codex', format: 'stream-json' });
    expect(agentCommand('claude', ['-p'], 'none')).toBeUndefined();
  });
});

describe('the arguments of a resumed run', () => {
  it.each([
    ['-p hi --output-format json', '--resume S -p hi --output-format json'],
    ['-p --session-id A hi', '--resume S -p hi'],
    ['-p --session-id=A hi -- --resume', '--resume S -p hi -- --resume'],
    ['--resume OLD --fork-session -p hi', '--resume S -p hi'],
    ['-c -p hi', '--resume S -p hi'],
    ['-r -p hi', '--resume S -p hi'],
    ['-y @anthropic-ai/claude-code@2 -p hi', '-y @anthropic-ai/claude-code@2 --resume S -p hi'],
  ])('[R-12] %s become %s', (args, expected) => {
    expect(resumeArgs(args.split(' '), 'S').join(' ')).toBe(expected);
  });

  it('[R-12] are none where the session is not kept', () => {
    expect(keepsSession(['-p', '--no-session-persistence'])).toBe(false);
    expect(keepsSession(['-p', '--', '--no-session-persistence'])).toBe(true);
  });

  it('[R-12] are needed where the session was named beforehand', () => {
    expect(beginsNamedSession(['-p', '--session-id=A'])).toBe(true);
    expect(beginsNamedSession(['-p', '--resume', 'A'])).toBe(false);
  });
});
