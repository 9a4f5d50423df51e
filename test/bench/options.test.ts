import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../bench/harness/options.ts';

const known = ['supervisor', 'calls'];
const parse = (...words: string[]) => parseOptions(words, known);

describe('the command line of the benchmark', () => {
  it('runs every suite in 5 rounds when nothing is said, in 2 when it is to be quick', () => {
    expect(parse()).toMatchObject({ suites: known, rounds: 5, quick: false, json: false });
    expect(parse('--quick')).toMatchObject({ suites: known, rounds: 2, quick: true });
  });

  it('keeps suites to their time unless it is said how many rounds they have, or a guard needs them', () => {
    expect(parse().inTime).toBe(true);
    expect(parse('--rounds', '5').inTime).toBe(false);
    expect(parse('--check').inTime).toBe(false);
  });

  it('takes suites and options in any order, each suite once', () => {
    const options = parse('calls', '--json', '--rounds', '7', 'calls', '--quick');
    expect(options).toMatchObject({ suites: ['calls'], json: true, rounds: 7, quick: true });
  });

  it('compares with what was recorded in 3 rounds, records in 5', () => {
    expect(parse()).toMatchObject({ mode: 'run' });
    expect(parse('--check')).toMatchObject({ mode: 'check', rounds: 3 });
    expect(parse('--record', '--json')).toMatchObject({ mode: 'record', rounds: 5, json: true });
    expect(parse('--check', '--rounds', '1')).toMatchObject({ mode: 'check', rounds: 1 });
  });

  it.each([
    [['supervisors'], 'Unknown suite "supervisors"; known: supervisor, calls; did you mean supervisor?'],
    [['toString'], 'Unknown suite "toString"; known: supervisor, calls'],
    [
      ['--jsn'],
      'Unknown option "--jsn"; known: --check, --record, --json, --rounds, --quick, --help; did you mean --json?',
    ],
    [['-x'], 'Unknown option "-x"; known: --check, --record, --json, --rounds, --quick, --help'],
    [['--json=1'], 'Option --json takes no value, got "1"'],
    [['--rounds'], 'Expected --rounds to be an integer from 1 to 1000, got nothing'],
    [['--rounds', '0'], 'Expected --rounds to be an integer from 1 to 1000, got "0"'],
    [['--rounds', '1001'], 'Expected --rounds to be an integer from 1 to 1000, got "1001"'],
    [['--check', 'calls'], 'Expected --check without calls'],
    [['--record', '--quick'], 'Expected --record without --quick'],
    [['--check', '--record'], 'Expected --check without --record'],
    [['--rounds=2.5'], 'Expected --rounds to be an integer from 1 to 1000, got "2.5"'],
  ])('refuses %j in one line', (words, message) => {
    expect(() => parse(...words)).toThrow(new RangeError(message));
  });

  it('gives help whatever else is wrong', () => {
    expect(parse('nothing', '--help').help).toBe(true);
  });
});
