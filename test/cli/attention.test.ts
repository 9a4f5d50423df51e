import { describe, expect, it } from 'vitest';
import { mattersOfRuntimes } from '../../src/cli/attention.ts';
import type { AskedRuntime } from '../../src/runtime/askRuntimes.ts';

const dead = (name: string, pid: number): AskedRuntime<unknown> => ({
  runtime: {
    ...{ id: `${pid}`, pid, processStart: '', startedAt: 0, renewedAt: 0, name, socket: undefined },
    liveness: 'dead',
  },
  answer: undefined,
  problem: 'it is gone',
});

describe('a process that is gone', () => {
  it('[L-5] is a gateway that is to be started', () => {
    const [matter] = mattersOfRuntimes([dead('gateway.mjs', 7), dead('unwedge mcp kb', 8)], 60_000);
    expect(matter?.next).toBe('start the gateway: it takes up what is left');
  });

  it('[L-5] is a proxy that its client may have ended, and of which nothing is left', () => {
    const [matter] = mattersOfRuntimes([dead('unwedge mcp kb', 8)], 60_000);
    expect(matter?.what).toContain('unwedge mcp kb (pid 8) is gone');
    expect(matter?.next).toBe('nothing, where its client ended it: it kept nothing that waits');
  });
});
