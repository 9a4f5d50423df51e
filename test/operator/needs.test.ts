import { describe, expect, it } from 'vitest';
import { healthOf, hurtText, needsOf, type NeedSources } from '../../operator/needs.ts';

const now = Date.UTC(2026, 0, 1);
const needs = (given: Partial<NeedSources>) =>
  needsOf({
    now,
    dead: [],
    frozen: [],
    questions: [],
    letters: 0,
    circuits: [],
    alerts: [],
    hurt: new Map(),
    ...given,
  });
const told = (given: Partial<NeedSources>) =>
  needs(given).map(({ kind, name, severity }) => `${severity} ${kind} ${name}`.trim());
const alert = (integration: string) => ({ integration, isWatched: true });
const open = (integration: string) => ({ integration, circuit: 'open' });

describe('the list of what needs a person', () => {
  it('[O-17] has the worst first, and the whole is as bad as that', () => {
    const all = {
      dead: [{ key: 'r1', name: 'gateway' }],
      frozen: [{ key: 'r2', name: 'other' }],
      questions: ['agent:main'],
      letters: 2,
      circuits: [open('kb'), open('search'), { integration: 'well', circuit: 'closed' }],
      alerts: [alert('search'), alert('mail')],
    };
    expect(told(all)).toEqual([
      'bad dead_gateway gateway',
      'bad frozen_gateway other',
      'bad dead_letters',
      'bad question agent:main',
      'bad open_circuit search',
      'bad alert mail',
      'warn open_circuit kb',
    ]);
    expect(healthOf(needs(all))).toBe('bad');
    expect(healthOf(needs({ circuits: [open('kb')] }))).toBe('warn');
    expect(healthOf(needs({ circuits: [{ integration: 'kb', circuit: 'crashed' }] }))).toBe('well');
  });

  it('[O-17] [G-15] [G-16] has sessions that wait for a budget, and those that spin', () => {
    const call = { call: 'c', integration: 'kb', tool: 'find', sinceMs: 0 };
    const spinning = {
      id: '1',
      tool: 'find',
      step: 'tell',
      form: 'failure',
      count: 6,
      message: '',
      answer: '',
    } as const;
    const whys = [
      { session: 'spins', calls: [call], spinning },
      { session: 'waits', calls: [{ ...call, waitsFor: 'waits for its budget' }] },
    ];
    expect(told({ whys, circuits: [open('kb')] })).toEqual([
      'bad budget waits',
      'warn open_circuit kb',
      'warn spinning spins',
    ]);
  });

  it.each([
    ['an alert that somebody looks after', { is: 'acknowledged', at: now }, []],
    ['one that is put off', { is: 'snoozed', at: now, until: now + 1 }, []],
    ['one that was put off', { is: 'snoozed', at: now, until: now }, ['bad alert kb']],
  ] as const)('[O-17] [O-3] knows %s', (_, note, expected) => {
    expect(told({ alerts: [{ ...alert('kb'), note }] })).toEqual(expected);
  });

  it('[O-17] is nobody yet for a pause that a server asked for, and somebody for a circuit that is held open', () => {
    expect(told({ circuits: [{ ...open('kb'), isPaused: true }], alerts: [alert('kb')] })).toContain(
      'warn open_circuit kb',
    );
    expect(told({ circuits: [{ integration: 'kb', circuit: 'isolated' }] })).toEqual(['bad open_circuit kb']);
    expect(told({ circuits: [{ ...open('kb'), tool: 'search' }], alerts: [alert('kb')] })).toEqual([
      'bad alert kb',
      'warn open_circuit kb',
    ]);
  });

  it('[O-17] names the first sessions that are hurt, and how many there are', () => {
    expect(hurtText(undefined)).toBe('');
    expect(hurtText(['a'])).toBe('it hurts the session a');
    expect(hurtText(['a', 'b', 'c', 'd', 'e'])).toBe('it hurts 5 sessions: a, b, c and 2 more');
  });
});
