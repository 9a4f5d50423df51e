import { describe, expect, it } from 'vitest';
import { writtenJson } from '../../../src/policy/text/writtenJson.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';

const written = (given: unknown): string | AttemptError => {
  try {
    return writtenJson({ method: 'tools/call', params: { name: 'pay', arguments: given } });
  } catch (error) {
    return error as AttemptError;
  }
};
/** Something that is no JSON: in the list of each. */
const circle: { readonly list: unknown[] } = { list: [] };
circle.list.push({ back: circle });
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const throws = (): never => {
  throw new TypeError('no money\nat all');
};
const nested = (depth: number): object => {
  let inner = {};
  for (let at = 0; at < depth; at++) inner = { inner };
  return inner;
};

describe('a message with what a caller gave', () => {
  it.each([
    ['a BigInt', { amount: { cents: 10n } }, 'arguments.amount.cents'],
    ['a BigInt in a list, under names that are no words', { 'a b': [{}, { 'c.d': 5n }] }, 'arguments["a b"][1]["c.d"]'],
    ['a BigInt as an object', { price: Object(5n) as unknown }, 'arguments.price'],
    ['a BigInt alone', 5n, 'arguments'],
    ['a circle', circle, 'arguments.list[0].back'],
    ['a toJSON that throws', { at: { toJSON: throws } }, 'arguments.at'],
    ['a toJSON that gives a BigInt', { toJSON: () => 7n }, 'arguments'],
    ['a getter that throws', Object.defineProperty({}, 'own', { get: throws, enumerable: true }), 'arguments.own'],
    ['a proxy that is revoked', { gone: revoked.proxy }, 'arguments.gone'],
    ['what is nested too deeply', nested(100_000), `arguments${'.inner'.repeat(11)}…`],
  ])('[R-12] names %s by its path, and that nothing was sent', (_, given, path) => {
    const error = written(given);
    expect(error).toBeInstanceOf(AttemptError);
    const { facts } = error as AttemptError;
    expect(facts).toMatchObject({ kind: 'permanent', outcome: 'not_started' });
    expect(facts.message).toMatch(/^`[^`]+` cannot be written as JSON, and nothing was sent: [^\n]+$/);
    expect(facts.message.slice(1, facts.message.indexOf('`', 1))).toBe(path);
  });

  it.each([
    [
      { when: new Date(Number.NaN), n: Number.NaN },
      { when: null, n: null },
    ],
    [{ act: () => 1, mark: Symbol('x'), nothing: undefined }, {}],
    [{ list: [() => 1, Symbol.iterator, undefined] }, { list: [null, null, null] }],
    [{ toJSON: () => ({ n: 1 }) }, { n: 1 }],
    [Object.create(null), {}],
    [nested(100), nested(100)],
  ])('[R-12] is written as JSON has it, where it has a word for it: %#', (given, read) => {
    const text = written(given);
    expect(typeof text === 'string' ? JSON.parse(text) : text).toEqual({
      method: 'tools/call',
      params: { name: 'pay', arguments: read as unknown },
    });
  });
});
