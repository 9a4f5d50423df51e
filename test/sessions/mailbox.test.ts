import { describe, expect, it } from 'vitest';
import { messageId, messageNamed } from '../../src/sessions/mailbox.ts';

describe('the id of a message', () => {
  it('[N-3] is made of its number, or of the mail that it came as', () => {
    expect(messageId('s', { number: 3 })).toBe('s-m3');
    expect(messageId('s', { number: 3, mail: 12 })).toBe('s-x12');
  });

  it.each([
    ['s-m3', { number: 3 }],
    ['s-x12', { mail: 12 }],
    ['s-x', undefined],
    ['s-y3', undefined],
    ['s-m3-m4', undefined],
    ['t-m3', undefined],
    ['s-m1234567890123456', undefined],
  ])('[I-5] is read again: %s', (id, named) => {
    expect(messageNamed(id, 's')).toEqual(named);
  });

  it('[I-5] is read again of a session whose own id looks like one', () => {
    expect(messageNamed('s-m3-x4', 's-m3')).toEqual({ mail: 4 });
  });
});
