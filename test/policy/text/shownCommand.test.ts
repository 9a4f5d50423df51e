import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseWords } from '../../../cli/parse.ts';
import { dbWords, commandAbout, optionWords } from '../../../src/policy/text/shownCommand.ts';

/** The words that a shell makes of a command, without its first. */
function wordsOf(command: string): readonly string[] {
  const script = `unwedge() { printf '%s\\0' "$@"; }\n${command}`;
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

const names = [
  'kb',
  '-rf',
  '--db=x',
  '--',
  '-',
  "it's",
  '$(id)',
  '`id`',
  '* ; ls',
  '-a "b"',
  'ünï',
  '!x',
  '#x',
  '~',
  'a=b',
];
const text = { kind: 'text', value: 'NAME', help: '' } as const;

describe('a command that is shown', () => {
  it.each(names)('[L-6] finds the name %s, as a shell splits it', (name) => {
    const [verb, ...words] = wordsOf(commandAbout('why', name, dbWords('-a b.sqlite')));
    expect(verb).toBe('why');
    const about = parseWords({}, words, 'help', ['NAME']);
    expect(about).toMatchObject({ args: { operands: [name], db: '-a b.sqlite' } });
    const [, ...more] = wordsOf(`unwedge events${optionWords('integration', name)} --json`);
    const option = parseWords({ integration: text }, more, 'help');
    expect(option).toMatchObject({ args: { integration: name, json: true } });
  });

  it.each(['a\u001bb', 'a\nb', 'a\u200bb'])('[L-6] names no name that cannot be shown: %j', (name) => {
    expect(commandAbout('why', name, ' --db x')).toBe('unwedge status --json --db x');
    expect(optionWords('integration', name)).toBe('');
  });
});
