import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it } from 'vitest';
import { safeEnvironment } from '../../../src/actors/process/safeEnvironment.ts';

describe('the environment that is safe for any child', () => {
  it('[P-1] is that of the MCP SDK', () => {
    expect(safeEnvironment()).toEqual(getDefaultEnvironment());
  });

  it('[P-3] has what was allowed besides, where it is set', () => {
    const host = { PATH: '/bin', KEY: 'k', EMPTY: '', OTHER: 'o' };
    expect(safeEnvironment(['KEY', 'EMPTY', 'MISSING'], host)).toEqual({ PATH: '/bin', KEY: 'k', EMPTY: '' });
  });

  it('[P-1] leaves shell functions out', () => {
    expect(safeEnvironment([], { PATH: '() { :; }', HOME: '/root' })).toEqual({ HOME: '/root' });
  });
});
