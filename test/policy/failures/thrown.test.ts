import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../src/policy/failures/thrown.ts';

describe('what was thrown', () => {
  it('[V-7] has a message for whatever was thrown', () => {
    expect(messageOf(new Error('boom'))).toBe('boom');
    expect(messageOf(undefined)).toBe('undefined');
    expect(messageOf(Object.assign(new Error('x'), { message: 5 }))).toBe('5');
    expect(messageOf(Object.create(null))).toBe('an error that cannot be shown');
  });
});
