import { describe, expect, it } from 'vitest';
import { errorIn, toldError } from '../../src/streams/toldError.ts';

describe('an error that an API tells of', () => {
  it.each([
    ['its own', { error: { code: 'a' } }],
    ['that of a response', { type: 'response.failed', response: { error: { code: 'a' } } }],
    ['itself', { code: 'a' }],
  ])('[R-5] is found in an event: %s', (_, said) => {
    expect(errorIn(said)).toEqual({ code: 'a' });
  });

  it.each([
    [
      { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x' },
      { status: 429, code: 429, type: 'RESOURCE_EXHAUSTED', message: 'x' },
    ],
    [
      { type: 'overloaded_error', message: 'x' },
      { status: undefined, code: undefined, type: 'overloaded_error' },
    ],
    [
      { code: '1302', statusCode: '503', detail: 'x' },
      { status: 503, code: '1302', message: 'x' },
    ],
    [{ code: 1302 }, { status: undefined, code: undefined }],
    ['out of order', { status: undefined, type: undefined, message: 'out of order' }],
    [undefined, { status: undefined, message: undefined }],
  ])('[R-5] is read from %j', (error, told) => {
    expect(toldError(error)).toMatchObject(told);
  });
});
