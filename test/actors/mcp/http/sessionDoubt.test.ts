import { describe, expect, it } from 'vitest';
import { signOf } from '../../../../src/actors/mcp/http/sessionDoubt.ts';

describe('the answer to a ping in a session', () => {
  it.each([429, 529])('[P-4] is a sign of life where the server is too busy for it: HTTP %i', (status) => {
    expect(signOf(status, 'this session has to wait', true)).toBe('alive');
  });

  it.each([
    [503, 'the session is not known', 'gone'],
    [404, '', 'gone'],
    [403, 'no', 'refused'],
    [503, 'no', 'silent'],
    [200, '', 'silent'],
  ])('[P-4] of HTTP %i with %j is none', (status, text, sign) => {
    expect(signOf(status, text, true)).toBe(sign);
  });
});
