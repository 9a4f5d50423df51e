import { describe, expect, it } from 'vitest';
import { answerable, type Question } from '../../../src/policy/records/question.ts';
import { unfit } from '../../../src/policy/records/formFit.ts';

const text = (more: object) => ({ type: 'string', ...more });
const titled = { oneOf: [{ const: 'r', title: 'Red' }] };

describe('an answer of fields', () => {
  it.each([
    [text({ minLength: 2 }), 'ab', 'a', 'at least 2 characters'],
    [text({ minLength: 2 }), '😀😀', '😀', 'at least 2 characters'],
    [text({ maxLength: 2 }), 'ab', 'abc', 'at most 2 characters'],
    [{ type: 'integer', minimum: 1 }, 1, 0, 'at least 1'],
    [{ type: 'number', maximum: 1.5 }, 1.5, 1.6, 'at most 1.5'],
    [{ type: 'integer' }, 2, 2.5, 'an integer'],
    [{ type: 'number' }, 2.5, '2.5', 'a number'],
    [{ type: 'boolean' }, false, 'false', 'a boolean'],
    [text({ enum: ['a', 'b'] }), 'a', 'c', 'one of a, b'],
    [text(titled), 'r', 'Red', 'one of r'],
    [text({ format: 'email' }), 'a@b.example', 'a b@c', 'a text of the format email'],
    [text({ format: 'uri' }), 'https://a.example/x', 'a.example', 'a text of the format uri'],
    [text({ format: 'date' }), '2024-02-29', '2023-02-29', 'a text of the format date'],
    [text({ format: 'date-time' }), '2024-02-29T10:00:00Z', '2024-02-29 10:00', 'a text of the format date-time'],
    [text({ format: 'date-time' }), '2024-02-29T10:00:00+01:00', '2024-02-30T10:00:00Z', 'format date-time'],
    [text({ format: 'hostname' }), 'anything', 1, 'a string'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, ['a'], ['c'], 'one of a, b'],
    [{ type: 'array', minItems: 1, maxItems: 1, items: { anyOf: titled.oneOf } }, ['r'], [], 'at least 1 choices'],
  ])('[G-17] fits what MCP says of a field: %j takes %j, not %j', (field, good, bad, wanted) => {
    const form = { is: 'fields', schema: { type: 'object', properties: { f: field } } } as const;
    expect(unfit(form, { f: good })).toBeUndefined();
    expect(unfit(form, { f: bad })).toContain(`${wanted} as f`);
    expect(unfit(form, {})).toBeUndefined();
  });

  it('[G-17] has no field that the form has not', () => {
    const schema = { type: 'object', properties: { f: { type: 'string' } } };
    expect(unfit({ is: 'fields', schema }, { f: 'x', extra: 1 })).toBe('no field extra');
    expect(unfit({ is: 'fields', schema: { ...schema, additionalProperties: true } }, { extra: 1 })).toBeUndefined();
    expect(unfit({ is: 'fields', schema: {} }, { extra: 1 })).toBeUndefined();
  });
});

describe('a sign-in in the inbox', () => {
  it('[P-4] may be declined there, and says that its code is entered elsewhere', () => {
    const question: Question = {
      id: 'aa',
      place: 'p',
      waiter: 'w',
      source: 'sign_in',
      asker: 'host',
      what: 'sign in',
      form: { is: 'decision' },
      askedAt: 0,
      deadlineAt: 1,
      state: 'open',
    };
    expect(answerable([question], 'aa', { decision: 'accept', way: 'command' })).toMatchObject({
      ok: false,
      text: 'The question aa is a sign-in: its code is entered on its page, or it is declined.',
    });
    expect(answerable([question], 'aa', { decision: 'decline', way: 'command' })).toBe(question);
  });
});
