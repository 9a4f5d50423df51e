import { describe, expect, it } from 'vitest';
import { instancesOf, viewOf } from '../../operator/integrationView.ts';
import type { AskedRuntime } from '../../operator/askRuntimes.ts';
import type { LiveIntegration, LiveStatus } from '../../src/control/answers.ts';

const figures = { state: 'idle', inFlight: 0, waiting: 0 };
const none = { failures10m: 0, failures24h: 0, crashes10m: 0, crashes24h: 0 };
const recorded = {
  integration: 'kb',
  ...none,
  failures10m: 1,
  failures24h: 2,
  circuit: 'open',
  runtimes: [{ pid: 7, ...none, failures24h: 2 }],
} as const;

function asked(id: string | number, ...integrations: LiveIntegration[]): AskedRuntime<LiveStatus> {
  const times = { startedAt: 0, renewedAt: 0 };
  const runtime = {
    id: String(id),
    pid: typeof id === 'number' ? id : 1,
    processStart: '',
    ...times,
    name: 'gateway',
    socket: undefined,
    liveness: 'alive',
  } as const;
  return { runtime, answer: { integrations, sessions: [] }, problem: undefined };
}

describe('the view of an integration', () => {
  it('[L-5] is what the records say while no runtime lives', () => {
    const dead = { ...asked('one'), answer: undefined };
    expect(viewOf([recorded], [dead])).toEqual([{ ...recorded, live: [] }]);
  });

  it('[L-5] has the circuit of its runtime, whatever is on record', () => {
    const live = asked('one', { integration: 'kb', circuit: 'closed', ...figures });
    expect(viewOf([recorded], [live])).toEqual([
      { ...recorded, circuit: 'closed', live: [{ runtime: 'one', pid: 1, circuit: 'closed', ...figures }] },
    ]);
  });

  it('[L-5] has of several circuits the one that lets the least through', () => {
    const of = (...circuits: LiveIntegration['circuit'][]) =>
      viewOf(
        [],
        [...circuits.map((circuit, index) => asked(String(index), { integration: 'kb', circuit, ...figures }))],
      )[0]?.circuit;
    expect(of('closed', 'open', 'half-open')).toBe('open');
    expect(of('crashed', 'closed')).toBe('crashed');
    expect(of('open', 'isolated')).toBe('isolated');
  });

  it('[L-5] is that of each of several runtimes as well, with what each has recorded', () => {
    const live = [7, 8].map((pid) => asked(pid, { integration: 'kb', circuit: 'closed', ...figures, inFlight: pid }));
    const [view] = viewOf([recorded], live);
    expect(view === undefined ? [] : instancesOf(view)).toMatchObject([
      { integration: 'kb@7', circuit: 'closed', failures10m: 0, failures24h: 2, live: [{ inFlight: 7 }] },
      { integration: 'kb@8', circuit: 'closed', failures10m: 0, failures24h: 0, live: [{ inFlight: 8 }] },
    ]);
    const [alone] = viewOf([recorded], live.slice(1));
    expect(alone === undefined ? [] : instancesOf(alone)).toEqual([]);
  });

  it('[L-5] is there for one that only a runtime knows, in the order of names', () => {
    const live = asked('one', { integration: 'api', circuit: 'crashed', ...figures });
    expect(viewOf([recorded], [live])).toMatchObject([
      { integration: 'api', failures10m: 0, failures24h: 0, circuit: 'crashed' },
      { integration: 'kb', circuit: 'open' },
    ]);
  });
});
