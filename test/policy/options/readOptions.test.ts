import { describe, expect, it } from 'vitest';
import {
  boolean,
  byName,
  choice,
  duration,
  either,
  having,
  integer,
  type Key,
  list,
  number,
  off,
  orOff,
  section,
  type Tell,
  text,
  variables,
} from '../../../src/policy/options/optionKeys.ts';
import { pathText } from '../../../src/policy/options/optionProblem.ts';
import { collectProblems, readGiven, readOptions } from '../../../src/policy/options/readOptions.ts';

const keys = {
  limitMs: duration({ default: 5000 }),
  graceMs: duration({ zero: true }),
  idleMs: duration({ infinite: true }),
  attempts: integer({ max: 10 }),
  share: number({ min: 0.5, max: 1 }),
  bytes: integer({ min: 1024 }),
  flag: boolean({ default: false }),
  mode: choice(['safe', 'extend']),
  name: text({ required: true }),
  args: list(text({ empty: true }), { expected: 'an array of strings' }),
  env: variables,
  token: text({ secret: true }),
  inner: section({ a: integer({ default: 1 }), b: integer({ default: 2 }) }, { default: {} }, ({ a, b }, tell) => {
    if (a >= b) tell('a', { expected: `an integer below \`b\` (${b})`, value: a });
  }),
  tools: byName(section({ limitMs: duration() })),
  extra: orOff(section({ limitMs: duration() })),
  target: either<string | { path: string }>(
    [text(), section({ path: text({ required: true }) })],
    (value) => (typeof value === 'object' ? 1 : 0),
    'a name, or an object with a path',
  ),
  clock: having<object>('a clock', ['now'], { optional: ['stalls'] }),
  off,
};

const read = (value: object) => readOptions('job', { name: 'x', ...value }, keys);

class Given {
  get name(): string {
    return 'inherited';
  }
}

describe('reading options by their table', () => {
  it('[R-17] fills in defaults, and gives durations in ms', () => {
    expect(read({})).toEqual({ name: 'x', limitMs: 5000, flag: false, inner: { a: 1, b: 2 } });
    expect(read({ limitMs: '1.5s', graceMs: '0ms', idleMs: 'infinity' })).toMatchObject({
      limitMs: 1500,
      graceMs: 0,
      idleMs: Number.POSITIVE_INFINITY,
    });
    expect(readGiven('job', { name: 'x', inner: { a: undefined } }, keys)).toEqual({ name: 'x', inner: {} });
  });

  it.each([
    [{ limitMs: 0 }, RangeError, '`job.limitMs` to be a duration above 0 (ms, or text such as 30s), got 0'],
    [{ limitMs: '0s' }, RangeError, 'above 0 (ms, or text such as 30s), got "0s"'],
    [{ limitMs: 'soon' }, RangeError, 'got "soon"'],
    [{ limitMs: Number.POSITIVE_INFINITY }, RangeError, 'got Infinity'],
    [{ limitMs: true }, TypeError, 'got true'],
    [{ limitMs: null }, TypeError, 'got null'],
    [{ graceMs: -1 }, RangeError, '`job.graceMs` to be a duration of at least 0 (ms, or text such as 30s), got -1'],
    [{ idleMs: 0 }, RangeError, 'a duration above 0 (ms, or text such as 30s), or "infinity", got 0'],
    [{ attempts: 0 }, RangeError, '`job.attempts` to be an integer from 1 to 10, got 0'],
    [{ attempts: 11 }, RangeError, 'got 11'],
    [{ attempts: 1.5 }, RangeError, 'got 1.5'],
    [{ attempts: '5' }, TypeError, 'got "5"'],
    [{ share: 0.4 }, RangeError, '`job.share` to be a number from 0.5 to 1, got 0.4'],
    [{ share: Number.NaN }, RangeError, 'got NaN'],
    [{ bytes: 1023 }, RangeError, '`job.bytes` to be an integer of at least 1024, got 1023'],
    [{ flag: 1 }, TypeError, '`job.flag` to be true or false, got 1'],
    [{ mode: 'none' }, RangeError, '`job.mode` to be one of safe, extend, got "none"'],
    [{ name: undefined }, TypeError, '`job.name` to be a non-empty string, got undefined'],
    [{ name: '' }, RangeError, 'got ""'],
    [{ args: 'x' }, TypeError, '`job.args` to be an array of strings, got "x"'],
    [{ args: ['x', 5] }, TypeError, '`job.args[1]` to be a string, got 5'],
    [{ env: { A: 5 } }, TypeError, '`job.env.A` to be a string, got a number that is not shown'],
    [{ env: { 'A=B': 'x' } }, RangeError, 'Unknown option `job.env["A=B"]`; choose another name'],
    [{ token: 5 }, TypeError, 'got a number that is not shown'],
    [{ inner: { a: 2 } }, RangeError, '`job.inner.a` to be an integer below `b` (2), got 2'],
    [{ inner: [] }, TypeError, '`job.inner` to be an object, got an array of 0'],
    [{ tools: { 'my tool': { limitMs: 0 } } }, RangeError, '`job.tools["my tool"].limitMs`'],
    [{ extra: true }, TypeError, '`job.extra` to be an object, or false, got true'],
    [{ target: {} }, TypeError, '`job.target.path` to be a non-empty string, got undefined'],
    [{ clock: {} }, TypeError, '`job.clock.now` to be a function, got undefined'],
    [{ clock: { now: () => 0, stalls: 5 } }, TypeError, '`job.clock.stalls` to be a function, got 5'],
    [{ clock: 5 }, TypeError, '`job.clock` to be a clock, got 5'],
    [{ limit: 5 }, RangeError, 'Unknown option `job.limit`; did you mean limitMs?'],
    [{ inner: { c: 5 } }, RangeError, 'Unknown option `job.inner.c`; known: a, b'],
  ])('[R-17] refuses %o, and names the option, its value and what was expected', (value, kind, message) => {
    expect(() => read(value)).toThrow(kind);
    expect(() => read(value)).toThrow(message);
  });

  it('[R-17] lists no more than a few known names', () => {
    expect(() => read({ zzzzzzzz: 1 })).toThrow(/; known: (\w+, ){11}\w+ and 6 more$/);
  });

  it('[R-17] reads the same from a plain object and from one that has to be looked at closely', () => {
    const few = { name: text({ required: true }), limitMs: duration(), attempts: integer(), flag: boolean() };
    const plain = { name: 'x', limitMs: 5, attempts: 2, flag: true };
    const close = Object.assign(Object.create({ name: 'x' }) as object, { ...plain, name: undefined, limitMs: '5ms' });
    Reflect.deleteProperty(close, 'name');
    expect(readGiven('job', close, few)).toEqual(readGiven('job', plain, few));
    expect(readOptions('job', new Given(), few)).toEqual({ name: 'inherited' });
    expect(() => readGiven('job', { limitMs: 5 }, few)).toThrow('`job.name` to be a non-empty string, got undefined');
    expect(() => readGiven('job', { ...plain, limit: 5 }, few)).toThrow('Unknown option `job.limit`');
    const even = (_: object, tell: Tell): void => tell('attempts', { expected: 'an odd number', value: 2 });
    expect(() => readGiven('job', plain, few, even)).toThrow('`job.attempts` to be an odd number, got 2');
  });

  it('[R-17] keeps a variable that is undefined, which takes it out of the environment', () => {
    expect(read({ env: { A: undefined } }).env).toEqual({ A: undefined });
    expect(read({ tools: { a: undefined } }).tools).toEqual({});
  });

  it('[R-17] collects everything that is wrong, each with its path, and what is right beside it', () => {
    const value = { limitMs: 0, args: [1, 'b'], inner: { a: 'x', b: 0 }, tools: { t: { x: 1, limitMs: '2s' } } };
    const { value: right, problems } = collectProblems(section(keys) as Key, value);
    expect(problems.map(({ path, what }) => [pathText(path), what])).toEqual([
      ['limitMs', 'range'],
      ['name', 'missing'],
      ['args[0]', 'type'],
      ['inner.a', 'type'],
      ['inner.b', 'range'],
      ['tools.t.x', 'unknown'],
    ]);
    // What misses something is of no use without it.
    expect(right).toBeUndefined();
    expect(collectProblems(section(keys) as Key, { ...value, name: 'x' }).value).toEqual({
      name: 'x',
      args: [undefined, 'b'],
      inner: {},
      tools: { t: { limitMs: 2000 } },
    });
  });

  it('[R-17] judges what goes together only where each is right by itself', () => {
    const both = (inner: object) => collectProblems(section(keys) as Key, { name: 'x', inner }).problems;
    expect(both({ a: 3 }).map(({ what }) => what)).toEqual(['together']);
    expect(both({ a: 3, b: 'x' }).map(({ what }) => what)).toEqual(['type']);
    expect(collectProblems(section(keys) as Key, { name: 'x', inner: { a: 3 } }, false).problems).toEqual([]);
  });
});
