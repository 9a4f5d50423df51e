import { describe, expect, it } from 'vitest';
import { isPlainWord } from '../../../src/policy/text/plainWord.ts';

describe('a plain word', () => {
  it.each(['unwedge', 'postgres', 'Production', 'PRODUCTION', 'straße'])('[O-8] is one of letters alone: %s', (word) =>
    expect(isPlainWord(word)).toBe(true),
  );

  it.each(['', 'hunter2', 'two words', 'a-b', 'aBcDeF', 'authenticating', 'correcthorsebattery', 'pa$$word'])(
    '[O-8] is not what holds more, or goes on for longer than a word does: "%s"',
    (text) => expect(isPlainWord(text)).toBe(false),
  );
});
