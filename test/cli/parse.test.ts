import { describe, expect, it } from 'vitest';
import { apiOptions } from '../../cli/api/command.ts';
import { form as dashboard } from '../../cli/dashboard/command.ts';
import { form as inspect } from '../../cli/inspect/command.ts';
import { serveOptions } from '../../cli/serve/command.ts';
import { UsageError } from '../../cli/errors.ts';
import { parseWords } from '../../cli/parse.ts';

const options = {
  since: { kind: 'duration', help: 'younger' },
  name: { kind: 'text', value: 'NAME', help: 'one' },
  failed: { kind: 'flag', help: 'wrong' },
  limit: { kind: 'count', max: 100, defaultValue: 50, help: 'most' },
} as const;

function parse(...words: string[]) {
  const parsed = parseWords(options, words, 'unwedge x --help');
  return parsed.help ? 'help' : parsed.args;
}

describe('the words of a command', () => {
  it('leave every option at its default when none is given', () => {
    expect(parse()).toEqual({
      since: undefined,
      name: undefined,
      failed: false,
      limit: 50,
      json: false,
      db: undefined,
      help: false,
      operands: [],
    });
  });

  it('that are no options are given in order, as many as the command names', () => {
    const operands = (...words: string[]) => {
      const parsed = parseWords(options, words, 'unwedge x --help', ['NAME', 'FILE']);
      return parsed.help ? 'help' : parsed.args.operands;
    };
    expect(operands('kb', '--failed', '--', '-f')).toEqual(['kb', '-f']);
    expect(() => operands('kb')).toThrow(new UsageError('Missing FILE; see `unwedge x --help`'));
    expect(() => operands('kb', 'f', 'more')).toThrow(new UsageError('Unexpected argument "more"'));
  });

  it('take a value behind a space or an equals sign; the last one wins', () => {
    expect(parse('--name', 'a', '--limit=7', '--name=-b', '--failed')).toMatchObject({
      name: '-b',
      limit: 7,
      failed: true,
    });
  });

  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
  ])('[L-3] read the duration %s', (text, ms) => {
    expect(parse('--since', text)).toMatchObject({ since: ms });
  });

  it.each([
    ['30', 30_000],
    ['0', 0],
    ['1.5', 1500],
  ])('[L-7] take the number %s for seconds, as timeout(1) does', (text, ms) => {
    expect(parse('--since', text)).toMatchObject({ since: ms });
  });

  it.each(['5x', 'm', '-5m', '-5', '5e3', '5 minutes'])(
    '[L-3] refuse the duration %j, naming option and value',
    (text) => {
      expect(() => parse(`--since=${text}`)).toThrow(
        `Expected \`--since\` to be a duration such as 500ms, 30s, 5m or 1h, got "${text}"`,
      );
    },
  );

  it('[L-1] take a count from 1 to its bound', () => {
    expect([parse('--limit', '1'), parse('--limit', '100')]).toMatchObject([{ limit: 1 }, { limit: 100 }]);
  });

  it.each(['0', '101', '1.5', '-1', '1e2', 'many'])('[L-1] refuse the count %j, naming option and value', (text) => {
    expect(() => parse('--limit', text)).toThrow(`Expected \`--limit\` to be an integer from 1 to 100, got "${text}"`);
  });

  it.each([
    [['--name'], 'Option --name needs a value'],
    [['--name', '--failed'], 'Option --name needs a value'],
    [['--name='], 'Option --name needs a value'],
    [['--failed=yes'], 'Option --failed takes no value, got "yes"'],
    [['--naem', 'a'], 'Unknown option "--naem"; did you mean --name?'],
    [['--no-failed'], 'Unknown option "--no-failed"'],
    [['--constructor'], 'Unknown option "--constructor"; see `unwedge x --help`'],
    [['-q'], 'Unknown option "-q"'],
    [['a'], 'Unexpected argument "a"'],
    [['--', '--failed'], 'Unexpected argument "--failed"'],
  ])('[L-1] refuse %j', (words, message) => {
    expect(() => parse(...words)).toThrow(UsageError);
    expect(() => parse(...words)).toThrow(message);
  });

  it('[L-1] take 0 where it means something: a port that is free', () => {
    for (const given of [apiOptions, serveOptions, dashboard.options, inspect.options]) {
      const port = (word: string) => parseWords({ port: given.port }, ['--port', word], 'unwedge x --help');
      expect(port('0')).toMatchObject({ args: { port: 0 } });
      expect(() => port('65536')).toThrow(/an integer from 0 to 65535, got "65536"/);
      expect(() => port('')).toThrow(UsageError);
    }
  });

  it('ask for help before anything else is wrong', () => {
    expect([parse('--nonsense', '-h'), parse('--help', 'a')]).toEqual(['help', 'help']);
    expect(parse('--name', 'x')).not.toBe('help');
  });
});
