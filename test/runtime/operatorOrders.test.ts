import { describe, expect, it } from 'vitest';
import { restartNamed } from '../../src/runtime/operatorOrders.ts';

interface World {
  readonly integrations?: readonly string[];
  readonly sessions?: readonly string[];
  /** Ids of children. */
  readonly children?: readonly string[];
  readonly quarantined?: readonly string[];
}

const pathOf = (name: string, done: string[]) => ({
  path: { name, stats: { attempts: 3 }, restart: () => void done.push(`end calls of ${name}`) } as never,
});

/** @param told - gets what is told of it. */
const restarted = (
  name: string,
  { integrations = [], sessions = [], children = [], quarantined = [] }: World,
  told: unknown[] = [],
): string[] => {
  const done: string[] = [];
  const note = {};
  restartNamed(name, note, {
    root: {
      has: (id) => children.includes(id),
      state: (id) => (quarantined.includes(id) ? 'quarantined' : 'running'),
      restartChild: (id) => void done.push(`restart ${id}`),
    },
    paths: new Map(integrations.map((each) => [each, pathOf(each, done)])),
    sessions: new Map(
      sessions.map((id) => [id, { restarting: () => undefined, why: () => ({ calls: ['a-1-1', 'a-1-2'] }) }]),
    ),
    facts: { tell: (fact) => void (fact.type === 'operator.restarted' && told.push(fact)) },
  });
  return done;
};

const world: World = {
  integrations: ['kb', 'search', 'hook:audit'],
  sessions: ['agent:main', 'kb'],
  children: ['integration:kb', 'mcp:kb', 'integration:search', 'session:agent:main', 'session:kb'],
};

describe('a restart by name', () => {
  it('[V-6] releases the machine of an integration too that is in quarantine', () => {
    const quarantined = ['integration:kb', 'integration:search'];
    expect(restarted('search', { ...world, quarantined })).toEqual([
      'end calls of search',
      'restart integration:search',
    ]);
    expect(restarted('kb', { ...world, quarantined })).toEqual(['restart mcp:kb', 'restart integration:kb']);
  });

  it.each([
    ['kb', 'restart mcp:kb'],
    ['search', 'end calls of search'],
    ['agent:main', 'restart session:agent:main'],
    ['audit', 'end calls of hook:audit'],
    ['hook:audit', 'end calls of hook:audit'],
    ['mcp:kb', 'restart mcp:kb'],
    ['integration:search', 'end calls of search'],
    ['session:kb', 'restart session:kb'],
  ])('[L-5] of %s: %s', (name, done) => {
    expect(restarted(name, world)).toEqual([done]);
  });

  it.each([
    ['kb', { integration: 'kb', what: 'server', calls: 3 }],
    ['search', { integration: 'search', what: 'calls', calls: 3 }],
    ['agent:main', { session: 'agent:main', what: 'session', calls: 2 }],
  ])('[O-1] [L-5] of %s is told as what an operator wanted', (name, fact) => {
    const told: unknown[] = [];
    restarted(name, world, told);
    expect(told).toEqual([{ type: 'operator.restarted', ...fact }]);
  });

  it('[L-5] leaves a session alone that has not started', () => {
    expect(restarted('main', { sessions: ['main'] })).toEqual([]);
  });

  it('[L-5] lists the names that are known, without those of children', () => {
    expect(() => restarted('kp', world)).toThrow(
      'No integration `kp` and no session of that name; known: kb, search, audit, agent:main',
    );
    expect(() => restarted('kp', {})).toThrow(/; known: none$/);
  });

  it('[L-5] lists at most 20 names', () => {
    const sessions = Array.from({ length: 25 }, (_, index) => `s${index}`);
    expect(() => restarted('kp', { sessions })).toThrow(/s18, s19 and 5 more$/);
  });
});
