import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkIncident } from '../../incident/checkIncident.ts';
import { gatherIncident } from '../../incident/gather.ts';
import type { Incident } from '../../incident/incident.ts';
import { contentsOf, incidentFiles, incidentName, incidentText, writeIncident } from '../../incident/incidentFiles.ts';
import { readIncident } from '../../incident/readIncident.ts';
import type { FlightRecord, RecordedFailure } from '../../src/policy/records/flight.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { policyMark } from '../../src/store/flights.ts';
import { replay } from '../../incident/replay/replay.ts';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import { openReader } from '../../reader/openReader.ts';
import { seededRandom } from '../../testing/random.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { hasSqlite, startStore, temporaryDirectory } from '../store/startStore.ts';

const start = Date.UTC(2026, 0, 1);
const failure = { kind: 'timeout', message: 'no answer', outcome: 'unknown' } as const;
const attempt = { what: 'attempt', attempt: 1, arrivedAt: start, startedAt: start, endedAt: start + 50 } as const;
const record: FlightRecord = {
  integration: 'kb',
  run: 'run-1',
  pid: 7,
  at: start + 1000,
  because: 'failure',
  rows: [
    { what: 'input', input: 'attached', at: start, down: false },
    { ...attempt, call: 11, end: 'answered' },
    { ...attempt, call: 12, end: 'limit', failure, session: 'alice', limits: 0 },
    { what: 'end', call: 12, arrivedAt: start, attempts: 1, endedAt: start + 50, end: 'failed', failure },
  ],
  limits: [{ idleMs: 50, attemptMs: Number.POSITIVE_INFINITY, overallMs: 100 }],
  retries: [],
  missed: 0,
};
const kept = { of: 'integration', policy: resolvePolicy('kb', {}), traits: { asks: 'end' } } as const;
const watchdog = { toolCallMs: 1, turnMs: 2, releaseMs: 3, recoveryMs: 4 };

/** A database with records of a failure, read. */
async function startReader(records: readonly FlightRecord[] = [record]) {
  const { store, clock, path } = await startStore();
  const seen = { since: start, seenAt: start };
  for (const each of records) store.flights.add(each, [{ name: 'kb', kept, ...seen }]);
  store.flights.keep([{ name: 'alice', kept: { of: 'session', watchdog }, ...seen }]);
  const fact = { session: 'alice', turn: 3, rule: 'tool_call', limitMs: 50, tool: 'read' } as const;
  store.record({ type: 'session.watchdog_fired', ...fact, at: start + 60 });
  store.record({ type: 'integration.crashed', integration: 'other', message: 'not about it', at: start + 60 });
  const flushed = store.flush();
  await clock.settle();
  await flushed;
  return openReader(path);
}

const gather = async (id: string, records?: readonly FlightRecord[]): Promise<Incident> =>
  gatherIncident(await startReader(records), id, { now: start + 5000, secrets: new KnownSecrets({}) });

describe.skipIf(!hasSqlite)('gathering an incident', () => {
  it.each([
    ['call', 'kb-12'],
    ['session', 'alice'],
    ['integration', 'kb'],
  ])('[O-16] takes what is on record around a %s, and the policies in force', async (kind, id) => {
    const incident = await gather(id);
    expect(incident.subject).toEqual({ kind, id });
    expect(incident.integrations).toMatchObject([{ name: 'kb', kept, records: [{ rows: record.rows }] }]);
    expect(incident.sessions).toEqual(kind === 'session' ? [{ name: 'alice', watchdog }] : []);
    expect(incident.events.map(({ type }) => type)).toEqual(kind === 'session' ? ['watchdog_fired'] : []);
  });

  it('[O-16] says that attempts of a session are missing where its process wrote none', async () => {
    const missing =
      'No attempt of the session alice is on record: a process that was killed took with it what it had not written.';
    expect((await gather('alice', [])).missing).toContain(missing);
    expect((await gather('alice')).missing).not.toContain(missing);
  });

  it('[O-16] names the nearest where nothing of that id is on record', async () => {
    await expect(gather('kb-13')).rejects.toThrow(
      'No session, call or integration "kb-13" is on record. Did you mean "kb-1',
    );
    await expect(gather('zzzzz')).rejects.toThrow('No session, call or integration "zzzzz" is on record.');
  });

  it('[O-16] says what is missing: what was dropped, what came before and after', async () => {
    expect((await gather('kb', [{ ...record, because: 'stop' }])).missing).toEqual([]);
    expect((await gather('kb', [{ ...record, missed: 3, rows: record.rows.slice(1) }])).missing).toEqual([
      '3 attempts and ends of kb had been dropped before it was written.',
      'What kb did before 2026-01-01T00:00:01.000Z is not in it, nor how its circuit was then.',
      'What kb did after 2026-01-01T00:00:01.000Z is not in it: its process wrote its last record then.',
    ]);
  });

  it('[O-16] misses nothing of a process that was asked to write what it held, and had nothing', async () => {
    const reader = await startReader();
    const options = { now: start + 3_600_000, secrets: new KnownSecrets({}) };
    expect((await gatherIncident(reader, 'kb', { ...options, asked: [7] })).missing).toEqual([]);
    expect((await gatherIncident(reader, 'kb', { ...options, asked: [8] })).missing).toHaveLength(1);
  });

  it('[O-16] ends now at the latest', async () => {
    const reader = await startReader();
    const untilOf = async (now: number): Promise<number> =>
      (await gatherIncident(reader, 'kb', { now, secrets: new KnownSecrets({}) })).until;
    expect(await untilOf(start + 5000)).toBe(start + 5000);
    expect(await untilOf(start + 3_600_000)).toBe(start + 1000 + 120_000);
  });

  it('[O-16] counts what was under way at the end alone, and one of a thing as one', async () => {
    const pending = { what: 'pending', call: 13, arrivedAt: start + 900, attempt: 0, waitsFor: 'permit' } as const;
    const before = { ...record, rows: [...record.rows, { ...pending, at: start + 1000 }] };
    const later = { ...record, at: start + 2000, rows: [{ ...attempt, call: 13, end: 'answered' } as const] };
    const idle = contentsOf(await gather('kb', [before, later]));
    expect(idle[0]).toBe('1 integration, each with its policy and what befell it');
    expect(idle[1]).toContain('3 attempts, 1 end without an answer, 0 calls under way');
    expect(contentsOf(await gather('kb', [before]))[1]).toContain(
      '2 attempts, 1 end without an answer, 1 call under way',
    );
    expect(contentsOf(await gather('alice'))[2]).toContain('1 session, each');
  });

  it('[O-16] finds a call of a session by the id that its session has for it, and its attempts', async () => {
    const sessionCall = 'alice-3-1';
    const rows = record.rows.map((row) => ('session' in row ? { ...row, sessionCall } : row));
    const { subject, integrations } = await gather(sessionCall, [{ ...record, rows }]);
    expect(subject).toEqual({ kind: 'call', id: sessionCall });
    expect(integrations).toMatchObject([{ name: 'kb', records: [{ rows }] }]);
    await expect(gather('alice-3-2', [{ ...record, rows }])).rejects.toThrow('Did you mean "alice-3-1"?');
  });

  it('[O-16] offers a replay where there is something to play', async () => {
    const readmeOf = (incident: Incident): string => incidentFiles(incident).at(-1)?.text ?? '';
    expect(readmeOf(await gather('kb'))).toContain('unwedge replay FOLDER');
    const idle = await gather('kb', [{ ...record, rows: record.rows.slice(0, 1) }]);
    expect(readmeOf(idle)).not.toContain('unwedge replay');
    expect(readmeOf(idle)).toContain('Nothing in it can be played.');
    await expect(replay(idle, { clock: new SimulatedClock(), random: seededRandom(1) })).rejects.toThrow(RangeError);
  });

  it('[O-16] has what was recorded of a process that was killed since, and says what is not', async () => {
    const pending = { what: 'pending', call: 13, tool: 'read', arrivedAt: start + 900, attempt: 1 } as const;
    const killed = {
      ...record,
      because: 'asked',
      rows: [...record.rows, { ...pending, waitsFor: 'in_flight', at: start + 1000 }],
    } as const;
    const rows = [{ what: 'input', input: 'attached', at: start + 3000, down: false }] as const;
    const later = { ...record, run: 'run-2', pid: 8, at: start + 4000, because: 'asked', rows } as const;
    const reader = await startReader([killed, later]);
    const options = { now: start + 5000, secrets: new KnownSecrets({}), asked: [8] };
    const incident = await gatherIncident(reader, 'kb', options);
    expect(incident.integrations.map(({ pid, records }) => [pid, records[0]?.rows.length])).toEqual([
      [undefined, 1],
      [7, 5],
    ]);
    expect(contentsOf(incident)[0]).toBe('1 integration in 2 processes, each with its policy and what befell it');
    expect(contentsOf(incident)[1]).toContain('2 attempts, 1 end without an answer, 1 call under way');
    expect(incident.missing).toEqual([
      'What kb of process 7 did after 2026-01-01T00:00:01.000Z is not in it: its process wrote its last record then.',
      '1 call of kb of process 7 was under way then: kb-13 (read). How that ended is not on record.',
    ]);
    expect(checkIncident(JSON.parse(incidentText(incident)))).toEqual({ ...incident });
  });

  it('[O-16] says which call of a session was under way when its process ended', async () => {
    const reader = await startReader();
    const call = {
      call: 'alice-3-1',
      integration: 'kb',
      tool: 'read',
      startedAt: start + 70,
      deadlineAt: start + 9000,
    };
    const others = { session: 'alice', messages: [], deadLetters: [] };
    const dead: StoreReader = {
      ...reader,
      path: reader.path,
      session: async () => ({ ...others, calls: [call] }),
    };
    for (const name of ['events', 'flights', 'policies', 'status', 'sessionIds'] as const)
      Object.assign(dead, { [name]: reader[name].bind(reader) });
    const missingOf = async (asked: readonly number[]): Promise<readonly string[]> =>
      (await gatherIncident(dead, 'alice', { now: start + 5000, secrets: new KnownSecrets({}), asked })).missing;
    const told =
      'The call alice-3-1 (read of kb) has no result: it was under way when its process ended or fell silent.';
    expect(await missingOf([])).toContain(told);
    expect(await missingOf([7])).not.toContain(told);
  });

  it('[O-16] takes the run of the process that it is about alone', async () => {
    const later = { ...record, run: 'run-2', at: start + 2000 };
    const { integrations } = await gather('kb', [record, later]);
    expect(integrations[0]?.records.map(({ at }) => at)).toEqual([start + 2000]);
  });

  it('[O-16] names other processes that have an integration of the name, and goes by no policy of theirs', async () => {
    const theirs = { ...kept, policy: resolvePolicy('kb', { retry: { maxAttempts: 7 } }) };
    const { store, clock, path } = await startStore();
    const seen = { since: start, seenAt: start };
    store.flights.add({ ...record, pid: 8, run: 'run-2', policy: policyMark(theirs) }, [
      { name: 'kb', kept: theirs, since: start + 500, seenAt: start + 9000 },
    ]);
    store.flights.add({ ...record, policy: policyMark(kept) }, [{ name: 'kb', kept, ...seen }]);
    const flushed = store.flush();
    await clock.settle();
    await flushed;
    const secrets = new KnownSecrets({});
    const { integrations, missing } = await gatherIncident(await openReader(path), 'kb', { now: start, secrets });
    expect(integrations).toMatchObject([
      { kept: { policy: { retry: { maxAttempts: kept.policy.retry.maxAttempts } } } },
      { pid: 8, kept: { policy: { retry: { maxAttempts: 7 } } }, records: [{ rows: record.rows }] },
    ]);
    expect(integrations.map(({ isShared }) => isShared)).toEqual([undefined, undefined]);
    expect(missing.join()).not.toContain('of process 8 did is not in it.');
  });

  it('[O-16] [O-8] takes out secrets that are known now, and not the numbers of tokens', async () => {
    const policy = resolvePolicy('kb', { rate: { tokens: 5000 } });
    const message = 'refused with hunter2hunter2';
    const secret = {
      ...record,
      rows: [{ ...attempt, call: 1, end: 'threw', failure: { ...failure, message } } as const],
    };
    const { store, clock, path } = await startStore();
    store.flights.add(secret, [{ name: 'kb', kept: { ...kept, policy }, since: start, seenAt: start }]);
    const flushed = store.flush();
    await clock.settle();
    await flushed;
    const secrets = new KnownSecrets({ API_TOKEN: 'hunter2hunter2' });
    const incident = await gatherIncident(await openReader(path), 'kb', { now: start, secrets });
    expect(incidentText(incident)).not.toContain('hunter2');
    expect(incident.integrations[0]?.kept?.policy.rate?.tokens).toBe(5000);
  });
});

describe.skipIf(!hasSqlite)('the folder of an incident', () => {
  it('[O-16] is its owner’s alone, and gives back what was written', async () => {
    const incident = await gather('alice');
    const folder = writeIncident(incident, join(temporaryDirectory(), incidentName(incident)));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const { name } of incidentFiles(incident)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readIncident(folder)).toEqual(incident);
    expect(readFileSync(join(folder, 'README.txt'), 'utf8')).toContain('unwedge replay');
  });

  it('[O-16] [R-16] tells what was found out of a call whose answer was lost', async () => {
    const incident = await gather('kb-12');
    const text = incidentText(incident).replace(
      '"outcome":"unknown"',
      '"outcome":"not_done","how":"the list lacks it"',
    );
    const file = join(temporaryDirectory(), 'one.json');
    writeFileSync(file, text);
    expect(incidentText(readIncident(file))).toContain('the list lacks it');
  });

  it('[O-16] may as well be one file', async () => {
    const incident = await gather('kb-12');
    const file = join(temporaryDirectory(), 'one.json');
    writeFileSync(file, incidentText(incident));
    expect(readIncident(file)).toEqual(incident);
  });

  it('[O-16] is not written over what is there', async () => {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    const incident = await gather('kb');
    expect(() => writeIncident(incident, folder)).toThrow('is not empty');
  });

  it('has a name that cannot leave its folder', () => {
    expect(incidentName({ subject: { kind: 'session', id: '../../etc/passwd' }, madeAt: start })).toBe(
      'incident-_.._etc_passwd-20260101T000000',
    );
  });

  it('[O-16] is refused with the place of what is wrong', async () => {
    const whole: unknown = JSON.parse(incidentText(await gather('alice')));
    const wrong = (path: string, value: unknown): unknown => {
      const copy = structuredClone(whole);
      const names = path.split('.');
      const last = names.pop() ?? '';
      let place = copy as Record<string, unknown>;
      for (const name of names) place = place[name] as Record<string, unknown>;
      place[last] = value;
      return checkIncident(copy);
    };
    const row = 'integrations.0.records.0.rows';
    expect(wrong('version', 2)).toBe('it was written by a later version of unwedge (format 2, this one reads 1)');
    expect(wrong('format', 'x')).toBe('it is no incident of unwedge');
    expect(wrong(`${row}.1.call`, -1)).toBe(
      'integrations[0].records[0].rows[1].call: expected an integer of at least 1, got -1',
    );
    expect(wrong(`${row}.2.limits`, 7)).toContain('there is no place 7');
    expect(wrong('integrations.0.kept.policy.retry.maxAttempts', 0)).toContain(
      '`integrations[0].kept.policy.retry.maxAttempts`',
    );
    expect(wrong(`${row}.1.endedAt`, 1)).toContain('ended before it began');
    expect(wrong(`${row}.2.failure.kind`, 'constructor')).toContain('expected one of');
    expect(wrong('events', { length: 1e9 })).toContain('events: expected a list');
    expect(checkIncident(whole)).toEqual(await gather('alice'));
  });

  it('[O-16] keeps of a failure all that it is judged by, as it was written', async () => {
    const whole = {
      ...{ kind: 'crash', reason: 'connection_lost', message: 'gone', outcome: 'unknown', how: 'read ECONNRESET' },
      ...{ retryAfterMs: 1, probeAfterMs: 2, status: 503, code: 137, breaker: 'alive' },
      ...{ shouldRetry: false, leaves: 'lost', resumable: true, alerts: false },
    } as const;
    const end = { what: 'end', call: 12, arrivedAt: start, attempts: 1, endedAt: start + 50, end: 'failed' } as const;
    const readBack = async (failure: object): Promise<unknown> => {
      const incident = await gather('kb', [{ ...record, rows: [{ ...end, failure: failure as RecordedFailure }] }]);
      const read = checkIncident(JSON.parse(incidentText(incident)));
      return typeof read === 'string' ? read : read.integrations[0]?.records[0]?.rows[0];
    };
    expect(await readBack(whole)).toEqual({ ...end, failure: whole });
    const { leaves: _, resumable: __, alerts: ___, ...plain } = whole;
    const odd = { ...plain, leaves: 'nothing', resumable: false, alerts: true };
    expect(await readBack(odd)).toEqual({ ...end, failure: plain });
  });

  it('[O-16] [Q-6] that is hostile is refused, or harmless', () => {
    const folder = temporaryDirectory();
    expect(() => readIncident(join(folder, 'none'))).toThrow('There is nothing at');
    expect(() => readIncident(folder)).toThrow('incident.json is missing');
    symlinkSync('/etc/passwd', join(folder, 'incident.json'));
    expect(() => readIncident(folder)).toThrow('is a link, and is not followed');
    const inner = join(folder, 'inner');
    mkdirSync(join(inner, 'incident.json'), { recursive: true });
    expect(() => readIncident(inner)).toThrow(/no plain file|cannot be read/);
    const file = join(folder, 'file.json');
    writeFileSync(file, 'secret text that is no JSON');
    expect(() => readIncident(file)).toThrow(`${file}: it is no JSON`);
    writeFileSync(file, '['.repeat(200_000) + ']'.repeat(200_000));
    expect(() => readIncident(file)).toThrow(file);
    writeFileSync(file, '{"__proto__": {"polluted": true}, "format": "unwedge-incident", "version": 1}');
    expect(() => readIncident(file)).toThrow('subject: expected an object');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('[O-16] of a later format is refused by its version, whatever else is in the folder', () => {
    const folder = temporaryDirectory();
    const later = { format: 'unwedge-incident', version: 9, integrations: 'otherwise' };
    writeFileSync(join(folder, 'incident.json'), JSON.stringify(later));
    expect(() => readIncident(folder)).toThrow(
      'it was written by a later version of unwedge (format 9, this one reads 1)',
    );
  });
});
