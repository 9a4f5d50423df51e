import { describe, expect, it } from 'vitest';
import { commands, loadCommand } from '../../cli/commands.ts';
import { commandHelp, optionsOf, overview } from '../../cli/help.ts';
import { wrapProse } from '../../cli/text.ts';
import { wrapWords, textWidth } from '../../src/policy/text/textWidth.ts';

/** Lines that could have been broken and were not: a word that is wider stays whole, and so do examples. */
const tooWide = (text: string, width: number): readonly string[] =>
  text
    .split('\n')
    .filter((line) => textWidth(line) > width && /\S\s+\S/.test(line) && !/^ {2}(bash|zsh|fish) /.test(line));

describe('help', () => {
  it.each([60, 80, 120])('[L-6] of every command fits %i columns', async (columns) => {
    expect(tooWide(overview({ json: false, columns }), columns)).toEqual([]);
    for (const name of Object.keys(commands)) {
      expect(tooWide(commandHelp(await loadCommand(name), { json: false, columns }), columns)).toEqual([]);
    }
  });

  it('[L-6] that goes to no terminal is 80 columns wide', async () => {
    const mcp = await loadCommand('mcp');
    const piped = commandHelp(mcp, { json: false, columns: Infinity });
    expect(piped).toBe(commandHelp(mcp, { json: false, columns: 80 }));
  });

  it('[L-7] says what a duration without a unit is, where a command takes one', async () => {
    const help = async (name: string) => commandHelp(await loadCommand(name), { json: false, columns: 80 });
    expect(await help('run')).toContain('without a unit: seconds');
    expect(await help('why')).not.toContain('DURATION');
  });

  it.each(Object.keys(commands))(
    '[L-1] of %s names in its usage line each option, or says that there are some',
    async (name) => {
      const command = await loadCommand(name);
      const options = optionsOf(command);
      const named = [...command.usage.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(([, option = '']) => option);
      expect(named.filter((option) => !Object.hasOwn(options, option))).toEqual([]);
      if (command.usage.includes('[OPTION...]')) return;
      // Every command has the other common ones, also where they say nothing to it.
      const own = [...Object.keys(command.options), ...Object.keys(options).filter((option) => option === 'json')];
      expect(own.filter((option) => !named.includes(option))).toEqual([]);
    },
  );

  it('[L-7] says of a number what may be given, and what holds without one, once', async () => {
    const help = async (name: string) => commandHelp(await loadCommand(name), { json: false, columns: Infinity });
    for (const name of ['dashboard', 'inspect', 'api'])
      expect((await help(name)).replaceAll(/\s+/g, ' ')).toContain('else a free one (0 to 65535)');
    expect((await help('events')).replaceAll(/\s+/g, ' ')).toContain('at most so many (1 to 100000, else 50)');
    const mcp = (await help('mcp')).replaceAll(/\s+/g, ' ');
    expect(mcp).toContain('clients at a time; else 32 (1 to 10000)');
  });

  it('breaks prose between words, and leaves examples and empty lines as they are', () => {
    expect(wrapProse('One sentence that\ngoes on.\nAnother.\n\n  $ an example of words', 14)).toEqual([
      'One sentence',
      'that goes on.',
      'Another.',
      '',
      '  $ an example of words',
    ]);
    expect(wrapWords('a word https://example.test/long/address b', 12, '  ')).toEqual([
      'a word',
      '  https://example.test/long/address',
      '  b',
    ]);
  });
});
