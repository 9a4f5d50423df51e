import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenLimits, ownLimits } from '../../../src/policy/spinning/spinningRule.ts';
import { type SeenCall, seenCall, SpinningWatch } from '../../../src/policy/spinning/spinningWatch.ts';

type Answer = Parameters<SpinningWatch['after']>[1];

interface Step {
  readonly call: SeenCall;
  readonly answer: Answer;
}

/** With two arguments of each no first answer is forgotten before its call comes again. */
const tools = { read: 'readOnly', run: undefined } as const;

const answers: fc.Arbitrary<Answer> = fc.oneof(
  fc.record({
    ok: fc.constant(true as const),
    value: fc.oneof(
      fc.constantFrom('ok', '', 'item 1', 'item 2', 'at TIME', null, { took: 1 }, { took: 2 }),
      fc.constantFrom('x'.repeat(700), `${'12 '.repeat(400)}end`, '1%\r2%\rdone', '{"a":1,"b":2}', '{"b":2,"a":1}'),
    ),
    tookMs: fc.constantFrom(undefined, 5, 30_000),
  }),
  fc.record({
    ok: fc.constant(false as const),
    kind: fc.constantFrom('tool_error', 'timeout'),
    message: fc.constantFrom('no', 'took 12 ms: no', 'took 13 ms: no', 'retry in 30 s', 'Error:\nno', ''),
    tookMs: fc.constantFrom(undefined, 5, 30_000),
    waits: fc.constantFrom(undefined, true, false),
  }),
);

const oneStep: fc.Arbitrary<Step> = fc.record({
  call: fc
    .record({
      tool: fc.constantFrom(...(Object.keys(tools) as (keyof typeof tools)[])),
      input: fc.constantFrom(1, 2),
    })
    .map(({ tool, input }) => seenCall({ tool, input: { input }, effect: tools[tool] })),
  answer: answers,
});

/** Sequences with much repetition: a few steps, over and over. */
const sequences: fc.Arbitrary<readonly Step[]> = fc
  .array(fc.tuple(fc.array(oneStep, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 25 })), { maxLength: 5 })
  .map((parts) => parts.flatMap(([steps, count]) => Array.from({ length: count }, () => steps).flat()));

/** Plays a step; each answer that names a time names another one. */
function play(watch: SpinningWatch, { call, answer }: Step, index = 0) {
  if (!answer.ok || typeof answer.value !== 'string') return watch.before(call) ?? watch.after(call, answer, 0);
  const value = answer.value.replace('TIME', `02:14:${10 + (index % 50)}`);
  return watch.before(call) ?? watch.after(call, { ...answer, value }, 0);
}

describe('repetition in any sequence of calls', () => {
  it.each([
    ['end', chosenLimits('end')],
    ['own', ownLimits],
  ])('[G-15] is judged after a restart at any place as without one: %s', (_name, limits) => {
    fc.assert(
      fc.property(sequences, fc.nat(), fc.constantFrom(10, 60), (steps, at, window) => {
        const whole = new SpinningWatch(limits, window);
        let other = new SpinningWatch(limits, window);
        for (const [index, step] of steps.entries()) {
          if (index === at % steps.length) {
            const text = other.toText();
            other = new SpinningWatch(limits, window);
            other.restore(text);
          }
          const { step: now, count, form } = play(other, step, index) ?? {};
          const { step: then, count: times, form: same } = play(whole, step, index) ?? {};
          expect([now, count, form]).toEqual([then, times, same]);
        }
      }),
    );
  });

  it('[G-15] never refuses or ends a success of a tool that may act', () => {
    const limits = chosenLimits('end');
    fc.assert(
      fc.property(sequences, (steps) => {
        const watch = new SpinningWatch(limits);
        const verdicts = steps.map((each) => [each, watch.after(each.call, each.answer, 0)?.step] as const);
        const wrong = verdicts.filter(
          ([{ call, answer }, step]) =>
            answer.ok && call.effect !== 'readOnly' && step !== undefined && step !== 'notice',
        );
        expect(wrong).toEqual([]);
      }),
    );
  });

  it('[G-15] never throws, whatever is called and answered', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(anything, anything, fc.string(), fc.boolean()), { maxLength: 20 }), (calls) => {
        const watch = new SpinningWatch(chosenLimits('end'));
        for (const [input, value, message, fails] of [...calls, ...calls, ...calls]) {
          const answer: Answer = fails ? { ok: false, kind: message, message } : { ok: true, value };
          play(watch, { call: seenCall({ tool: message, input }), answer });
        }
        expect(watch.toText()).toBeTypeOf('string');
      }),
    );
  });

  it.each([
    ['letters for pairs', '"  "'],
    ['words that are none', '[[[0]],[[1,{"words":1,"at":0}]],[]]'],
    ['a time that is none', '[[[0]],[[KEY,{"words":"no","at":1e300,"step":"end"}]],[]]'],
  ])('[G-15] never throws on a damaged memory: %s', (_what, text) => {
    const call = seenCall({ tool: 'run', input: {} });
    const watch = new SpinningWatch(chosenLimits('end'));
    for (let count = 0; count < 25; count++) {
      play(watch, { call, answer: { ok: false, kind: 'k', message: 'no' } });
      const [rows] = JSON.parse(watch.toText()) as [unknown];
      const [, last] = JSON.parse(text.replace('KEY', String(call.key.call))) as [unknown, unknown];
      watch.restore(JSON.stringify([rows, last, '  ']));
      expect(watch.before(call)?.step).toBe(count < 19 ? undefined : 'end');
    }
  });

  it('[G-15] never throws on a memory of any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const watch = new SpinningWatch(ownLimits);
        watch.restore(text);
        play(watch, { call: seenCall({ tool: 'run', input: {} }), answer: { ok: false, kind: 'k', message: 'no' } });
        expect(watch.toText()).toBeTypeOf('string');
      }),
    );
  });

  it('[G-15] is kept in 32 kB of text, however much was called', () => {
    const watch = new SpinningWatch(ownLimits);
    for (let index = 0; index < 2_000; index++) {
      const message = `${'é"'.repeat(4_000)}`;
      play(watch, {
        call: seenCall({ tool: `t${index % 50}`, input: index % 25 }),
        answer: { ok: false, kind: 'k', message },
      });
    }
    expect(Buffer.byteLength(watch.toText())).toBeLessThan(32_000);
  });
});
