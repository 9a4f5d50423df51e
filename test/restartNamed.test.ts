import { describe, expect, it } from 'vitest';
import { restartNamed } from '../src/restartNamed.ts';

interface World {
  readonly integrations?: readonly string[];
  readonly sessions?: readonly string[];
  /** Ids of children. */
  readonly children?: readonly string[];
}

/** What a restart by name did, `restart id` or `reset name`. */
const restarted = (name: string, { integrations = [], sessions = [], children = [] }: World): string[] => {
  const done: string[] = [];
  restartNamed(name, {
    root: { has: (id) => children.includes(id), restartChild: (id) => void done.push(`restart ${id}`) },
    paths: new Map(integrations.map((each) => [each, { name: each, reset: () => void done.push(`reset ${each}`) }])),
    sessions: new Map(sessions.map((id) => [id, id])),
  });
  return done;
};

const world: World = {
  integrations: ['kb', 'search', 'hook:audit'],
  sessions: ['agent:main', 'kb'],
  children: ['integration:kb', 'mcp:kb', 'integration:search', 'session:agent:main', 'session:kb'],
};

describe('a restart by name', () => {
  it.each([
    ['kb', 'restart mcp:kb'],
    ['search', 'reset search'],
    ['agent:main', 'restart session:agent:main'],
    ['audit', 'reset hook:audit'],
    ['hook:audit', 'reset hook:audit'],
    ['mcp:kb', 'restart mcp:kb'],
    ['integration:search', 'reset search'],
    ['session:kb', 'restart session:kb'],
  ])('[L-5] of %s: %s', (name, done) => {
    expect(restarted(name, world)).toEqual([done]);
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
