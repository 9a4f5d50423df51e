import { describe, expect, it } from 'vitest';
import { instrument } from './instrument.mjs';
import { must, type Target } from './target.ts';

const counters = new Uint32Array(64);
Object.assign(globalThis, { fuzzCounters: counters, fuzzWords: [] });
const { fuzz } = await import('./fuzz.ts');

const play = (target: Target, inputs = 20_000) =>
  fuzz(target, { seed: 1, inputs, words: ['deep'], began: () => undefined });

/** A reader that goes a step further for each part of what it looks for, as an instrumented one tells it. */
function stepwise(text: string): void {
  let value: unknown = text;
  for (const [step, look] of [(v: unknown) => JSON.parse(String(v)) as unknown, inner, inner].entries()) {
    try {
      value = look(value);
    } catch {
      return;
    }
    if (value === undefined) return;
    counters[step]!++;
  }
  must(false, 'the bottom was reached');
}

const inner = (value: unknown): unknown => (value as Record<string, unknown>)['deep'];

describe('the fuzzer', () => {
  it('[Q-4] finds, by the branches that are taken, what chance alone does not, and the shortest input for it', async () => {
    const target = { seeds: ['{"a":{"b":7}}'], run: (input: Buffer) => stepwise(input.toString()) };
    const { findings } = await play(target);
    expect(findings).toMatchObject([{ says: 'Violation: the bottom was reached' }]);
    expect(JSON.parse(JSON.parse(findings[0]?.input ?? '') as string)).toHaveProperty('deep.deep');
    expect((await play(target)).findings, 'the same by the same seed').toEqual(findings);
  });

  it('[Q-4] finds what takes more steps than its length is worth, whatever the machine', async () => {
    const quadratic = (input: Buffer) => void (counters[9]! += input.length ** 2);
    const { findings } = await play({ seeds: ['abc'], run: quadratic, maxBytes: 4096 }, 3000);
    expect(findings.map(({ says }) => says)).toEqual(['Violation: too many steps for its length']);
  });

  it('[Q-4] counts each branch of a source, and leaves what it does as it is', () => {
    const { plugin, count } = instrument(() => true);
    const source = `export const f = (a: number | undefined) => {
      if (a === undefined) return a ?? 'none';
      for (const each of [a]) if (each > 1) return { each };
      switch (a) { case 1: return a > 0 ? 'one' : 'no'; default: return a && (() => ({ a })); }
    };`;
    const { code } = plugin.transform(source, 'x.ts') ?? { code: '' };
    expect(code).toContain('globalThis.fuzzWords.push(...["none","each","one","no","a"])');
    expect(count()).toBe(code.split('fuzzed[').length - 1);
    expect(count()).toBe(11);
  });
});
