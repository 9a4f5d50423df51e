import { describe, expect, it } from 'vitest';
import { isClientLimit } from '../../../proxy/mcp/cancelReasons.ts';

describe('the reason of a cancel of a client', () => {
  it.each([
    'McpError: MCP error -32001: Request timed out',
    'McpError: MCP error -32001: Maximum total timeout exceeded',
    'SdkError: Request timed out',
    'TimeoutError: The operation was aborted due to timeout',
    'timed out after 1.0s',
    'timed out',
    'request timeout',
    'Tool call timed out after 30 seconds',
  ])('[R-18] is a limit of its own: %s', (reason) => {
    expect(isClientLimit(reason, 1234)).toBe(true);
  });

  it.each([
    'AbortError: user-cancel',
    'AbortError: remote-cancel',
    'AbortError: This operation was aborted',
    'AbortError: the person tired of a timeout that never came',
    'caller cancelled',
    'operation cancelled',
    'request cancelled',
    'because of me',
    '',
    undefined,
    { message: 'timed out' },
  ])('[R-18] is a person, or not known: %s', (reason) => {
    expect(isClientLimit(reason, 2000)).toBe(false);
  });

  it.each([
    [2001, true],
    [60_002, true],
    [120_000, true],
    [1995, true],
    [1980, false],
    [2500, false],
    [2060, false],
    [3, false],
  ])(
    '[R-18] of Codex, which says the same of both, is a limit on a whole second: after %i ms %s',
    (afterMs, isLimit) => {
      expect(isClientLimit('MCP response future dropped', afterMs)).toBe(isLimit);
    },
  );
});

describe('the reason of a cancel of a call that was answered', () => {
  it.each([
    'McpError: MCP error -32001: Request timed out',
    'SdkError: Request timed out',
    'timed out after 1.0s',
    'timed out',
    'request timeout',
  ])('[R-18] says that its answer was not taken: %s', (reason) => {
    expect(isClientLimit(reason, 1234, true)).toBe(true);
  });

  it.each([
    'TimeoutError: The operation was aborted due to timeout',
    'Tool call timed out after 30 seconds',
    'AbortError: user-cancel',
    'MCP response future dropped',
    undefined,
  ])('[R-18] says nothing of that: %s', (reason) => {
    expect(isClientLimit(reason, 1234, true)).toBe(false);
  });
});
