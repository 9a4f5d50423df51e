import { describe, expect, it } from 'vitest';
import { commandHelp } from '../../../cli/help.ts';
import { loadCommand } from '../../../cli/commands.ts';
import { parseWords } from '../../../cli/parse.ts';

const options = { allow: { kind: 'list', value: 'NAME', help: 'a name' } } as const;

function parse(...words: string[]) {
  const parsed = parseWords(options, words, 'unwedge x --help');
  return parsed.help ? 'help' : parsed.args.allow;
}

describe('an option that may be repeated', () => {
  it('[L-1] becomes what was given, in order', () => {
    expect([parse(), parse('--allow', 'a'), parse('--allow', 'b', '--allow=a')]).toEqual([[], ['a'], ['b', 'a']]);
  });

  it('[L-1] needs a value each time', () => {
    expect(() => parse('--allow', 'a', '--allow')).toThrow('Option --allow needs a value');
  });

  it('[L-1] says so in the help', async () => {
    expect(commandHelp(await loadCommand('mcp'), { json: false, columns: 80 })).toMatch(
      /--env-allow NAME[^]*?; may be\s+repeated$/m,
    );
  });
});
