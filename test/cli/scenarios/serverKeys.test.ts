import { describe, expect, it } from 'vitest';
import { misspeltKeys } from '../../../cli/mcp/serversFile.ts';

const hints = (server: unknown) => misspeltKeys({ files: server });

describe('keys of a server that nobody reads', () => {
  it.each([
    ['arg', 'args'],
    ['Command', 'command'],
    ['cmd', 'command'],
    ['arguments', 'args'],
    ['uri', 'url'],
  ])('[R-17] are told where they look like one of ours: %s', (key, meant) => {
    expect(hints({ [key]: 'x' })).toEqual([`\`mcpServers.files.${key}\` is read by nobody; did you mean ${meant}?`]);
  });

  it('[R-17] are not told where they are those of other programs', () => {
    const others = [
      'timeout',
      'alwaysAllow',
      'autoApprove',
      'envFile',
      'dev',
      'trust',
      'description',
      'enabled',
      'tools',
      'serverUrl',
    ];
    expect(hints(Object.fromEntries(others.map((key) => [key, 1])))).toEqual([]);
  });

  it('[R-17] are not told where the server has what was meant', () => {
    expect(hints({ args: [], arg: [] })).toEqual([]);
  });

  it('[Q-4] are told in plain words, whatever they hold', () => {
    const [hint] = misspeltKeys({ 'a\u0007b': { 'comm\u0001and': 'x' } });
    expect(hint).toBe('`mcpServers.ab.command` is read by nobody; did you mean command?');
  });

  it('[R-17] are looked for in servers alone', () => {
    expect([misspeltKeys(undefined), misspeltKeys([1]), hints(7)]).toEqual([[], [], []]);
  });
});
