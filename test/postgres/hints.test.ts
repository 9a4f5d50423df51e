import { describe, expect, it } from 'vitest';
import { Hints, hintsIn } from '../../postgres/hints.ts';

const sent = (...texts: readonly string[]): string => {
  const hints = new Hints();
  for (const text of texts) hints.add(text);
  return hints.take();
};

describe('hints', () => {
  it('[N-3] go together, each once, whatever is in their text', () => {
    const texts = ['mail a', 'mail b', 'mail "\n\0é'];
    expect(hintsIn(sent(...texts, 'mail a'))).toEqual(texts);
  });

  it('[N-3] that are more than a payload holds mean that anything may have happened', () => {
    expect(hintsIn(sent('x'.repeat(7_994)))).toHaveLength(1);
    for (const text of ['x'.repeat(7_996), 'é'.repeat(4_000)]) {
      expect(Buffer.byteLength(sent(text))).toBeLessThan(8_000);
      expect(hintsIn(sent(text))).toBeUndefined();
    }
    const many = Array.from({ length: 100_000 }, (_, index) => `mail ${index}`);
    expect(hintsIn(sent(...many))).toBeUndefined();
  });

  it('[N-3] are gone once they were taken', () => {
    const hints = new Hints();
    hints.add('x'.repeat(9_000));
    hints.take();
    expect(hints.isEmpty).toBe(true);
    hints.add('a');
    expect(hintsIn(hints.take())).toEqual(['a']);
  });

  it('[N-3] of somebody else on our channel mean that anything may have happened', () => {
    for (const payload of ['', 'hello', '{"a":1}', '7']) expect(hintsIn(payload)).toBeUndefined();
  });
});
