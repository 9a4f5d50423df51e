import { describe, expect, it } from 'vitest';
import { type ChildSpec, checkChildSpec } from '../../src/supervisor/childSpec.ts';
import { worker } from './actors.ts';

describe('a child spec', () => {
  it('[V-1] has the defaults of OTP, with limits in ms', () => {
    expect(checkChildSpec({ id: 'kb', logic: worker })).toMatchObject({
      restart: 'permanent',
      shutdown: 5000,
      type: 'worker',
      significant: false,
      intensity: 3,
      periodMs: 5000,
      quarantineMs: Number.POSITIVE_INFINITY,
      mailbox: { capacity: 0, overflow: 'refuse' },
      backoff: { baseMs: 100, factor: 2, maxMs: 30_000, jitter: 0.2, resetAfterMs: 60_000, firstImmediate: false },
    });
  });

  it('[V-1] leaves a supervisor all the time its own children need', () => {
    expect(checkChildSpec({ id: 'sub', logic: worker, type: 'supervisor' }).shutdown).toBe('infinity');
  });

  it('[V-1] takes every field in its bounds', () => {
    const spec: ChildSpec = {
      id: 'kb',
      logic: worker,
      input: 1,
      restart: 'transient',
      shutdown: 'brutal_kill',
      significant: true,
      systemId: 'kb',
      intensity: 0,
      periodMs: 0.5,
      quarantineMs: 1,
      mailbox: { capacity: 10, overflow: 'drop_newest' },
    };
    expect(checkChildSpec(spec)).toMatchObject(spec);
    expect(checkChildSpec({ id: 'kb', logic: worker, intensity: Number.POSITIVE_INFINITY }).intensity).toBe(Infinity);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a missing id', { id: undefined }, /`id`.*undefined/],
    ['an empty id', { id: '' }, /`id`.*""/],
    ['missing logic', { logic: undefined }, /`kb\.logic`.*undefined/],
    ['logic that is none', { logic: {} }, /`kb\.logic`.*an object/],
    ['an unknown restart', { restart: 'always' }, /`kb\.restart`.*"always"/],
    ['an unknown shutdown', { shutdown: 'soon' }, /`kb\.shutdown`.*"soon"/],
    ['a shutdown of 0', { shutdown: 0 }, /`kb\.shutdown`.*0/],
    ['an unknown type', { type: 'boss' }, /`kb\.type`.*"boss"/],
    ['a significant permanent child', { significant: true }, /`kb\.significant`.*true/],
    ['an empty systemId', { systemId: '' }, /`kb\.systemId`.*""/],
    ['a negative intensity', { intensity: -1 }, /`kb\.intensity`.*-1/],
    ['a broken intensity', { intensity: 1.5 }, /`kb\.intensity`.*1\.5/],
    ['a period of 0', { periodMs: 0 }, /`kb\.periodMs`.*0/],
    ['a quarantine of 0', { quarantineMs: 0 }, /`kb\.quarantineMs`.*0/],
    ['a negative backoff', { backoff: { baseMs: -1 } }, /`kb\.backoff\.baseMs`.*-1/],
    ['a negative capacity', { mailbox: { capacity: -1 } }, /`kb\.mailbox\.capacity`.*-1/],
    ['an endless capacity', { mailbox: { capacity: Infinity } }, /`kb\.mailbox\.capacity`.*Infinity/],
    ['an unknown overflow', { mailbox: { overflow: 'drop' } }, /`kb\.mailbox\.overflow`.*"drop"/],
    ['a field of a mailbox nobody knows', { mailbox: { capasity: 1 } }, /kb\.mailbox\.capasity.*mean capacity/],
    ['a mailbox that is none', { mailbox: 10 }, /`kb\.mailbox`.*10/],
    ['an onStart that is no function', { onStart: 1 }, /`kb\.onStart`.*1/],
    ['an onExit that is no function', { onExit: 1 }, /`kb\.onExit`.*1/],
    ['a field nobody knows', { restrat: 'permanent' }, /restrat/],
  ])('[V-1] is refused with %s, by field and value', (_name, fields, message) => {
    const spec = { id: 'kb', logic: worker, ...fields } as ChildSpec;
    expect(() => checkChildSpec(spec)).toThrow(message);
  });
});
