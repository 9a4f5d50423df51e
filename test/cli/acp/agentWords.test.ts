import { describe, expect, it } from 'vitest';
import { agentWords } from '../../../cli/acp/agentWords.ts';

describe('the command line of an agent that is to speak the protocol', () => {
  it.each([
    [['goose'], ['goose', 'acp']],
    [['/usr/bin/gemini'], ['/usr/bin/gemini', '--acp']],
    [['opencode'], ['opencode', 'acp']],
    [['copilot'], ['copilot', '--acp']],
    [
      ['goose', 'acp', '--with-builtin', 'developer'],
      ['goose', 'acp', '--with-builtin', 'developer'],
    ],
    [['my-agent'], ['my-agent']],
  ])('[A-1] [A-3] of %o is %o', (given, words) => {
    expect(agentWords(given)).toEqual(words);
  });

  it.each([
    ['claude', '@agentclientprotocol/claude-agent-acp'],
    ['codex', '@agentclientprotocol/codex-acp'],
  ])('[A-1] [A-3] of %s is a package, and says which', (command, name) => {
    expect(() => agentWords([command])).toThrow(`unwedge acp -- npx ${name}`);
  });
});
