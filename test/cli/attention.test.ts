import { describe, expect, it } from 'vitest';
import { attentionText, mattersOf, mattersOfRuntimes } from '../../cli/attention.ts';
import type { IntegrationView } from '../../operator/integrationView.ts';
import { createStyle } from '../../cli/text.ts';
import type { AskedRuntime } from '../../operator/askRuntimes.ts';

const dead = (name: string, pid: number): AskedRuntime<never> => ({
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

  it('[L-5] [I-4] is a run, whose end the next one records', () => {
    const [matter] = mattersOfRuntimes([dead('unwedge run nightly', 8)], 60_000);
    expect(matter?.what).toContain('unwedge run nightly (pid 8) is gone');
    expect(matter?.next).toBe('nothing: the next `unwedge run` or gateway records its end as a failure');
  });
});

const now = 3_600_000;
const figures = { failures10m: 0, failures24h: 0, crashes10m: 0, crashes24h: 0, runtimes: [] };
const nothing = { alerts: { open: [], unwatched: [] }, sessions: [], stuck: [], letters: [], runtimes: [] };
const live = { state: 'idle', circuit: 'closed', inFlight: 0, waiting: 0, runtime: 'one', pid: 7 } as const;

/** An integration that answers, but for what is said. */
function view(integration: string, more: Partial<IntegrationView> = {}): IntegrationView {
  return { integration, circuit: 'closed', ...figures, live: [live], ...more };
}

describe('what needs attention', () => {
  const matters = ['one', 'two', 'three'].map((what) => ({ what, next: `look ${what}` }));
  const style = createStyle({ isTTY: false, env: {} });
  const text = (mostLines: number) => attentionText(matters, { width: 80, style, mostLines });

  it('[L-6] keeps to its part of the screen, and says how many more there are', () => {
    expect(text(5)).toBe('! one\n  next: look one\n! two\n  next: look two\n  … and 1 more: --json has all\n');
    expect(text(1)).toBe('! one\n  next: look one\n  … and 2 more: --json has all\n');
    expect(text(6)).not.toContain('more');
  });

  it('[L-6] wraps the words of what to do next, and breaks no command', () => {
    const command = `unwedge events --integration ${'kb'.repeat(50)} --failed`;
    const both = [
      {
        what: 'one',
        next: 'find out what became of what got no answer; the next proxy or gateway records it as a failure',
      },
      { what: 'two', next: command },
    ];
    expect(attentionText(both, { width: 80, style }).split('\n')).toEqual([
      '! one',
      '  next: find out what became of what got no answer; the next proxy or gateway',
      '    records it as a failure',
      '! two',
      `  next: ${command}`,
      '',
    ]);
  });

  it('[L-6] is told of eight, the worst of each sort among them, however many there are of one', () => {
    const crashed = { ...live, circuit: 'crashed' } as const;
    const servers = Array.from({ length: 9 }, (_, index) =>
      view(`mcp-${index}`, { circuit: 'crashed', live: [crashed] }),
    );
    const stuck = [{ session: 'agent:main', what: 'does not go on' }];
    const told = (integrations: readonly IntegrationView[]): readonly string[] => {
      const all = mattersOf({ ...nothing, integrations, stuck }, now, undefined);
      return attentionText(all, { width: 200, style })
        .split('\n')
        .filter((line) => /^(!| {2}…)/.test(line));
    };
    const many = told(servers);
    expect(many).toHaveLength(9);
    expect([many[1], many[8]]).toEqual(['! session agent:main does not go on', '  … and 2 more: --json has all']);
    const eight = told(servers.slice(0, 7));
    expect([eight.length, eight[7]]).toEqual([8, '! session agent:main does not go on']);
  });
});

describe('a server that is down', () => {
  const crashed = { ...live, circuit: 'crashed' } as const;
  const nextOf = (crashes10m: number) =>
    mattersOf(
      { ...nothing, integrations: [view('fs', { circuit: 'crashed', live: [crashed], crashes10m })] },
      now,
      undefined,
    )[0]?.next;

  it('[O-9] is restarted after one crash, and is read about after several, which a restart does not mend', () => {
    expect([nextOf(1), nextOf(2)]).toEqual(['unwedge restart fs', 'unwedge events --integration fs --failed']);
  });
});

describe('a server that answers the probe of its open circuit by asking for a pause', () => {
  const told = (lastError: IntegrationView['lastError']): unknown => {
    const paused = { ...live, circuit: 'half-open', pausedForMs: 29_400 } as const;
    const kb = view('kb', { circuit: 'half-open', lastError, live: [paused] });
    return mattersOf({ ...nothing, integrations: [kb] }, now, undefined);
  };

  it('[L-5] [M-13] is told with the time of the next try, and not with what it failed of before', () => {
    const matter = {
      what: 'kb is not called: its server asked for a pause, next try in 30s',
      next: 'unwedge events --integration kb',
    };
    expect(told({ at: now, kind: 'transient', error: 'connection refused' })).toEqual([matter]);
    expect(told({ at: now, kind: 'rate_limit', error: 'HTTP 429' })).toEqual([
      { ...matter, what: `${matter.what}: rate_limit: HTTP 429` },
    ]);
  });

  it('[L-5] is told as tried again once that time is over', () => {
    const kb = view('kb', { circuit: 'half-open', live: [{ ...live, circuit: 'half-open' }] });
    const [matter] = mattersOf({ ...nothing, integrations: [kb] }, now, undefined);
    expect(matter?.what).toBe('kb is being tried again: its circuit is half-open');
  });
});

describe('the circuit of a tool', () => {
  const tools = [
    {
      tool: 'charge',
      circuit: 'open',
      probeInMs: 53_400,
      rule: { name: 'consecutive_failures', failures: 3, limit: 3 },
    },
    { tool: 'refund', circuit: 'open', probeInMs: 0 },
    { tool: 'slow', circuit: 'isolated' },
  ] as const;

  it('[M-15] is told with its next try where it is not closed, though that of its integration is', () => {
    const matters = mattersOf(
      { ...nothing, integrations: [view('bank', { live: [{ ...live, tools }] })] },
      now,
      'a.db',
    );
    expect(matters.map(({ what }) => what)).toEqual([
      'bank: the circuit of its tool charge is open (3 attempts in a row failed, consecutiveFailures 3); next try in 54s',
      'bank: the circuit of its tool refund is open; the next call tries it',
      'bank: the circuit of its tool slow is held open by an operator',
    ]);
    expect(matters[0]?.next).toBe('unwedge probe bank --db a.db');
    expect(matters[1]?.next).toBe('unwedge events --integration bank --failed --db a.db');
  });

  it('[M-15] is that of the gateway which lets the least through', () => {
    const other = { ...live, pid: 8, tools: [{ tool: 'charge', circuit: 'isolated' }] as const };
    const both = [{ ...live, tools: tools.slice(0, 1) }, other];
    const matters = mattersOf({ ...nothing, integrations: [view('bank', { live: both })] }, now, undefined);
    expect(matters.map(({ what }) => what)).toEqual([
      'bank: the circuit of its tool charge is held open by an operator',
    ]);
  });
});

describe('a store that cannot be written', () => {
  const store = { reason: 'gateway.sqlite: database or disk is full', fix: 'free space on its disk', forMs: 192_000 };
  const asked = (more: { waiting: number; dropped: number }): AskedRuntime<{ store: typeof store & typeof more }> => ({
    runtime: { ...dead('serve', 7).runtime, liveness: 'alive' },
    answer: { store: { ...store, ...more } },
    problem: undefined,
  });

  it('[O-2] is told with its gateway, its cause, since when, and what waits', () => {
    expect(mattersOfRuntimes([asked({ waiting: 53, dropped: 0 })], now)).toEqual([
      {
        what: 'the store of serve (pid 7) has been degraded for 3m12s: gateway.sqlite: database or disk is full; 53 rows wait in its memory and end with it',
        next: 'free space on its disk; do not restart it before',
      },
    ]);
    const [full] = mattersOfRuntimes([asked({ waiting: 10_000, dropped: 1 })], now);
    expect(full?.what).toMatch(/10000 rows wait in its memory and end with it, 1 more was dropped$/);
  });
});

describe('an integration that failed', () => {
  const alert = (integration: string, agoMs: number) => ({
    ...{ id: integration, integration, because: 'crashes' as const, kind: 'crash' as const, message: 'it exited' },
    ...{ failures: 0, crashes: 13, raisedAt: now - 600_000, lastFailureAt: now - agoMs },
  });
  const crashed = { crashes10m: 13, crashes24h: 13, lastError: { at: now, kind: 'permanent', error: '429' } };

  it('[O-3] is told last once it runs again, with how long ago it failed, and before that with what its alert is about', () => {
    const seen = (agoMs: number) =>
      mattersOf(
        {
          ...nothing,
          integrations: [view('kb', crashed), view('bank', { circuit: 'isolated' })],
          alerts: { open: [alert('kb', agoMs)], unwatched: [] },
          stuck: [{ session: 'agent:main', what: 'waits' }],
        },
        now,
        undefined,
      ).map(({ what }) => what);
    expect(seen(29_999)).toEqual([
      'bank is not called: somebody isolated it; its events say who and why, `unwedge restart` ends it',
      'kb crashed 13 times in 10 minutes: crash: it exited',
      'session agent:main waits',
    ]);
    expect(seen(30_000)).toEqual([
      'bank is not called: somebody isolated it; its events say who and why, `unwedge restart` ends it',
      'session agent:main waits',
      'kb runs again: its last failure was 30s ago; it crashed 13 times in 10 minutes',
    ]);
  });

  it('[O-3] does not run again where no live gateway has it', () => {
    const integrations = [view('kb', { ...crashed, live: [] })];
    const alerts = { open: [alert('kb', 300_000)], unwatched: [] };
    expect(mattersOf({ ...nothing, integrations, alerts }, now, undefined)[0]?.what).toMatch(/^kb crashed 13 times/);
  });
});
