import { describe, expect, it } from 'vitest';
import { answerWords } from '../../../src/policy/spinning/answerKey.ts';
import {
  chosenLimits,
  ownLimits,
  passingLimits,
  type SpinningLimits,
} from '../../../src/policy/spinning/spinningRule.ts';
import { seenCall, spinningNews, SpinningWatch } from '../../../src/policy/spinning/spinningWatch.ts';

const all = chosenLimits('end');

/** Steps that a series of calls came to: `tell failure 6` where people hear of it or the agent is told. */
function play(
  watch: SpinningWatch,
  calls: readonly (readonly [tool: string, input: unknown, answer: string, more?: object])[],
) {
  const seen: string[] = [];
  for (const [index, [tool, input, answer, more]] of calls.entries()) {
    const call = seenCall({ tool, input, ...more });
    const refused = watch.before(call);
    const failed = answer.startsWith('!');
    const verdict =
      refused ??
      watch.after(
        call,
        failed
          ? { ok: false, kind: 'tool_error', message: answer.slice(1), ...more }
          : { ok: true, value: answer, ...more },
        0,
      );
    const { step, form, count, isNews, text } = verdict ?? {};
    if (verdict !== undefined && (isNews === true || text !== undefined))
      seen.push(
        `${index + 1}: ${refused === undefined ? '' : 'refused '}${step} ${form} ${count}${text === undefined ? '' : ' told'}`,
      );
  }
  return seen;
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const failing = (count: number) => times(count, () => ['edit', { a: 1, b: 'x' }, '!String not found'] as const);
const read = { effect: 'readOnly' } as const;

describe('the words of an answer', () => {
  const secret = 'Zq8vR2mK9xT4bW7nL1pC6dF3gH5jS0aY';
  const wordsOf = (message: string) => answerWords({ ok: false, kind: 'tool', message });

  it('[G-15] end before the word that their limit cuts: half a secret nobody would know for one', () => {
    for (let before = 100; before < 200; before++) {
      const words = wordsOf(`${'refused '.repeat(30).slice(0, before)} "${secret}" is no key, ${'so '.repeat(50)}`);
      expect(words.replace(secret, '')).not.toContain('Zq8');
      expect([words.length <= 160, words.length > 100]).toEqual([true, true]);
    }
    expect(wordsOf(`{"items":[${'"abc",'.repeat(40)}`)).toMatch(/^\{"items":\[("abc",)+"?$/);
    expect(wordsOf(`no ${' '.repeat(980)} such ${secret}`)).not.toContain('Zq8');
    expect(wordsOf(` not\n  found: ${secret} `)).toBe(`not found: ${secret}`);
  });
});

describe('the rule on repetition', () => {
  it('[G-15] takes equal failures from a notice over a word to the end, and no further', () => {
    expect(play(new SpinningWatch(ownLimits), failing(21))).toEqual([
      '4: notice failure 4',
      '6: tell failure 6 told',
      '12: tell failure 12 told',
      '18: tell failure 18 told',
      '20: end failure 20 told',
      '21: refused end failure 21 told',
    ]);
  });

  it.each([
    [
      'all',
      all,
      ['4: notice read 4', '12: tell read 12 told', '20: hold read 20 told', '21: refused hold read 21 told'],
    ],
    ['own', ownLimits, ['4: notice read 4', '12: tell read 12 told']],
    ['passing', passingLimits, ['4: notice read 4']],
  ] satisfies [string, SpinningLimits, string[]][])(
    '[G-15] takes equal reads as far as is chosen: %s',
    (_name, limits, seen) => {
      expect(
        play(
          new SpinningWatch(limits),
          times(21, () => ['read', { path: 'a' }, 'the text', read] as const),
        ),
      ).toEqual(seen);
    },
  );

  it('[G-15] takes equal successes of a tool that may act for nothing but a notice', () => {
    expect(
      play(
        new SpinningWatch(all),
        times(80, () => ['press', { key: 'down' }, 'ok'] as const),
      ),
    ).toEqual(['4: notice success 4']);
  });

  it.each([1, 2, 3, 4, 5])('[G-15] finds a cycle of %d', (period) => {
    const calls = times(20 * period, (index) =>
      index % period === 0
        ? (['edit', { a: 1 }, '!no'] as const)
        : (['look', { at: index % period }, 'the same'] as const),
    );
    const seen = play(new SpinningWatch(ownLimits), calls);
    expect(seen.filter((each) => each.includes('failure'))).toEqual([
      `${3 * period + 1}: notice failure 4`,
      `${5 * period + 1}: tell failure 6 told`,
      `${11 * period + 1}: tell failure 12 told`,
      `${17 * period + 1}: tell failure 18 told`,
      `${19 * period + 1}: end failure 20 told`,
    ]);
  });

  it('[G-15] begins anew where something was done in between, and notices all the same', () => {
    const calls = times(60, (index) =>
      index % 2 === 0 ? (['test', {}, '!1 failed'] as const) : (['edit', { index }, 'done'] as const),
    );
    expect(play(new SpinningWatch(all), calls)).toEqual(['7: notice failure 4']);
  });

  it('[G-15] counts of a call that are its own go before those of the watch', () => {
    const watch = new SpinningWatch(chosenLimits('notice'));
    const call = seenCall({ tool: 'edit', input: {}, limits: chosenLimits('hold') });
    const answer = { ok: false, kind: 'tool_error', message: 'no' } as const;
    const steps = times(20, () => watch.after(call, answer, 0)?.step);
    expect(steps.slice(2, 6)).toEqual([undefined, 'notice', 'notice', 'tell']);
    expect(watch.before(call)).toMatchObject({ step: 'hold', count: 21 });
    expect(watch.before(seenCall({ tool: 'edit', input: {} }))).toBeUndefined();
  });

  it('[G-15] what is held may be called again once something was done', () => {
    const watch = new SpinningWatch(chosenLimits('hold'));
    const call = seenCall({ tool: 'test', input: {} });
    for (let count = 0; count < 20; count++) watch.after(call, { ok: false, kind: 'x', message: 'no' }, 0);
    expect(watch.before(call)).toMatchObject({ step: 'hold', count: 21 });
    watch.after(seenCall({ tool: 'edit', input: {} }), { ok: true, value: 'done' }, 0);
    expect(watch.before(call)).toBeUndefined();
    expect(watch.after(call, { ok: false, kind: 'x', message: 'no' }, 0)?.step).toBe('notice');
  });

  it('[G-15] says in a line what people are told', () => {
    const watch = new SpinningWatch(all);
    const call = seenCall({ tool: 'edit', input: {} });
    const [last] = times(4, () => watch.after(call, { ok: false, kind: 'x', message: 'String not found' }, 0)).slice(
      -1,
    );
    expect(last && spinningNews('files__edit', last)).toEqual({
      ...{ tool: 'files__edit', step: 'notice', form: 'failure', count: 4, period: 1, answer: 'String not found' },
      message: 'files__edit was called 4 times with the same arguments and failed alike each time',
    });
  });

  it('[G-15] tells of one failure under varying arguments, now and then', () => {
    const calls = times(
      26,
      (index) =>
        [
          'bash',
          { command: `ls /srv/dir${index}` },
          `!Exit code 2\nls: cannot access '/srv/dir${index}': No such file`,
        ] as const,
    );
    expect(play(new SpinningWatch(all), calls)).toEqual([
      '8: tell varied 8 told',
      '16: tell varied 10 told',
      '24: tell varied 10 told',
    ]);
  });

  it.each([
    ['a poll', { poll: true }, 'no output'],
    ['a tool that may repeat', { repeats: 'allowed' }, '!no'],
    ['an answer that names a wait', {}, '!busy, try again in 30 s'],
    ['an answer that says how long', {}, 'building, about 4 minutes remaining'],
    ['a call that waits itself', { tookMs: 30_000 }, 'no output'],
  ] as const)('[G-15] leaves %s alone', (_what, rule, answer) => {
    const { poll, repeats, ...more } = { poll: undefined, repeats: undefined, ...rule };
    const named = { ...more, ...read, rule: repeats ?? (poll === true ? 'poll' : undefined) };
    expect(
      play(
        new SpinningWatch(all),
        times(60, () => ['wait', {}, answer, named] as const),
      ),
    ).toEqual([]);
  });

  it('[G-15] takes a call that does not wait for what it was asked to wait for repetition, and one that waits for none', () => {
    const failing = (every: number) => {
      const watch = new SpinningWatch(ownLimits);
      const call = seenCall({ tool: 'query', input: {} });
      return times(30, (index) => {
        const message = `The circuit is open; next try in ${30 - index} s`;
        return watch.after(call, { ok: false, kind: 'circuit_open', message, waits: 30_000 }, index * every)?.step;
      });
    };
    expect(failing(100).indexOf('tell')).toBe(5);
    expect(failing(14_000).indexOf('end')).toBe(19);
    expect(failing(15_000).every((step) => step === undefined)).toBe(true);
  });

  it('[G-15] begins anew after a call that waited', () => {
    const watch = new SpinningWatch(ownLimits);
    const call = seenCall({ tool: 'query', input: {} });
    const busy = { ok: false, kind: 'circuit_open', message: 'busy', waits: 10_000 } as const;
    for (let index = 0; index < 15; index++) watch.after(call, busy, index);
    expect(watch.after(call, busy, 20_000)).toBeUndefined();
    expect(times(6, (index) => watch.after(call, busy, 20_001 + index)?.step).indexOf('tell')).toBe(4);
  });

  it('[G-15] never refuses a clock', () => {
    const calls = times(60, (index) => ['now', {}, `It is 02:14:${10 + index}`, read] as const);
    expect(play(new SpinningWatch(all), calls).filter((each) => /hold|end/.test(each))).toEqual([]);
  });

  it('[G-15] [H-5] judges the same where each call is seen by another process, and keeps no more words than it may', () => {
    const moving = times(21, (index) => ['read', {}, `done at 02:14:${10 + index}`, read] as const);
    const varied = times(21, (index) => ['ls', { at: index }, '!Permission denied'] as const);
    for (const calls of [moving, varied, failing(21)]) {
      let kept = '';
      const apart = calls.flatMap((call, index) => {
        const watch = new SpinningWatch(all);
        watch.restore(kept);
        const seen = play(watch, [call]).map((each) => each.replace(/^1/, String(index + 1)));
        kept = watch.toText((words) => words.replaceAll('found', '[redacted]'));
        return seen;
      });
      expect(apart).toEqual(play(new SpinningWatch(all), calls));
      expect(kept).not.toContain('found');
    }
  });

  it('[G-15] goes on after a restart where it was', () => {
    const first = new SpinningWatch(ownLimits);
    play(first, failing(10));
    const second = new SpinningWatch(ownLimits);
    second.restore(first.toText());
    expect(play(second, failing(10))).toEqual([
      '2: tell failure 12 told',
      '8: tell failure 18 told',
      '10: end failure 20 told',
    ]);
  });

  it.each(['', '{}', '[[[0],[1,2]],[]]', '[null,null]', '[[["a"]],[[1,2]]]'])(
    '[G-15] takes a damaged memory for none: %s',
    (text) => {
      const watch = new SpinningWatch(ownLimits);
      watch.restore(text);
      expect(play(watch, failing(6))).toEqual(['4: notice failure 4', '6: tell failure 6 told']);
    },
  );

  it('[G-15] neither refuses nor ends by what was before the message that is worked on', () => {
    const watch = new SpinningWatch(ownLimits);
    play(watch, failing(20));
    watch.mark();
    expect(play(watch, failing(20)).map((each) => each.split(' told')[0])).toEqual([
      '1: tell failure 21',
      '4: tell failure 24',
      '10: tell failure 30',
      '16: tell failure 36',
      '20: end failure 40',
    ]);
  });

  it('[G-15] says what was answered when, where it refuses', () => {
    const watch = new SpinningWatch(chosenLimits('hold'));
    const call = seenCall({ tool: 'edit', input: {} });
    for (let index = 0; index < 20; index++)
      watch.after(call, { ok: false, kind: 'tool_error', message: 'no such text' }, Date.UTC(2026, 10, 30));
    expect(watch.before(call)?.text).toContain('last at 2026-11-30T00:00:00.000Z: "no such text"');
  });

  it.each([
    ['command', 'description'],
    ['cmd', 'justification'],
  ])('[G-15] takes a %s for the same whatever its %s says', (command, remark) => {
    const calls = (...remarks: string[]) =>
      remarks.map((said) => ['bash', { [command]: 'make', [remark]: said }, '!no rule', {}] as const);
    const seen = play(new SpinningWatch(ownLimits), calls(...times(20, String)));
    expect(seen.at(-1)).toBe('20: end failure 20 told');
    const tasks = times(7, (nth) => ['task', { description: `part ${nth}` }, '!no rule', {}] as const);
    expect(play(new SpinningWatch(ownLimits), tasks)).toEqual([]);
  });

  it('[G-15] reads arguments that cannot be read', () => {
    const input = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
      },
    );
    expect(seenCall({ tool: 'bash', input }).key.call).not.toBe(seenCall({ tool: 'bash', input }).key.call);
  });

  it('[G-15] notices equal reads at the eighth, whatever came in between, and no earlier', () => {
    const calls = times(8, (nth) => [
      ['write', { nth }, `written ${nth}`] as const,
      ['ls', {}, 'a.txt', read] as const,
    ]).flat();
    expect(play(new SpinningWatch(ownLimits), calls)).toEqual(['16: notice read 8']);
  });
});

describe('calls whose arguments do not tell them apart', () => {
  it('[G-15] are others by what does', () => {
    const keyOf = (exact: unknown) => seenCall({ tool: 'a', input: { n: 12 }, exact }).key.call;
    expect(new Set([keyOf(undefined), keyOf(['n1']), keyOf(['n2']), keyOf(['n2'])]).size).toBe(3);
  });
});
