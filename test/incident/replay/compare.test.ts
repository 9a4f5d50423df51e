import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Incident, IncidentEvent } from '../../../incident/incident.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { compare, type ReplayResult, type ReplayStep } from '../../../incident/replay/compare.ts';
import { replay } from '../../../incident/replay/replay.ts';
import { seededRandom } from '../../../testing/random.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { gathered, readBack } from './gathered.ts';

/** A circuit opens after two calls that failed; the incident is taken `laterMs` after that. */
async function openedCircuit(laterMs: number): Promise<Incident> {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 2, resetTimeoutMs: 60_000 } };
  const kb = gateway.integration('kb', { effect: 'readOnly', policy }, () => {
    throw new AttemptError({ kind: 'transient', message: 'HTTP 503', outcome: 'failed' });
  });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  for (let times = 0; times < 2; times++) {
    await clock.advance(1000);
    await kb.call('question');
  }
  await clock.advance(laterMs);
  return readBack(await gathered(gateway, 'kb', clock));
}

const play = (incident: Incident): Promise<ReplayResult> =>
  replay(incident, { clock: new SimulatedClock(), random: seededRandom(1) });

const isOpening = ({ category, type }: IncidentEvent): boolean => category === 'breaker' && type === 'opened';

/** The same record, whose circuit opened at another time. */
function openedLater(incident: Incident, ms: number): Incident {
  const events = incident.events.map((event) => (isOpening(event) ? { ...event, at: event.at + ms } : event));
  return { ...incident, events };
}

describe('what a replay compares', () => {
  it.each([30, 200, 1000])('[O-16] is also what came %i ms before the record ended', async (laterMs) => {
    const incident = await openedCircuit(laterMs);
    expect((await play(incident)).first).toBeUndefined();
    const without = { ...incident, events: incident.events.filter((event) => !isOpening(event)) };
    const replayedAlone = await play(without);
    expect(replayedAlone).toMatchObject({ isSame: false, first: { of: 'circuit of kb', recorded: undefined } });
    const last = incident.integrations[0]?.records.at(-1)?.at ?? 0;
    const closed = { at: last - laterMs / 2, category: 'breaker', type: 'closed', metadata: { integration: 'kb' } };
    const recordedAlone = await play({ ...incident, events: [...incident.events, closed] });
    expect(recordedAlone).toMatchObject({ isSame: false, first: { of: 'circuit of kb', replayed: undefined } });
  });

  it('[O-16] is the same where it came within 250 ms, on whichever side of the end of the record', async () => {
    const incident = await openedCircuit(100);
    expect((await play(openedLater(incident, 240))).first).toBeUndefined();
    expect((await play(openedLater(incident, 260))).first?.of).toBe('circuit of kb');
  });

  it('[O-16] is a call under way when the record of its integration ended, however long those of others go on', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
    const policy = { retry: { maxAttempts: 1 }, limits: { idleMs: 5000, attemptMs: 5000, overallMs: 5000 } };
    const kb = gateway.integration('kb', { policy }, () => new Promise<string>(() => undefined));
    const mail = gateway.integration('mail', { policy }, () => 'sent');
    await gateway.start();
    onTestFinished(async () => {
      const stopping = gateway.stop();
      await clock.advance(60_000);
      await stopping;
    });
    void kb.call('hangs');
    await clock.advance(1000);
    const early = readBack(await gathered(gateway, 'kb', clock));
    await clock.advance(10_000);
    await mail.call('letter');
    const late = readBack(await gathered(gateway, 'mail', clock));
    const result = await play({ ...late, integrations: [...early.integrations, ...late.integrations] });
    expect(result.first).toBeUndefined();
    expect(result.lines.map(({ of, replayed }) => [of, replayed?.what])).toEqual([
      ['kb-1', 'under way, 1 attempt'],
      ['mail-1', 'answered, 1 attempt'],
    ]);
  });

  it('[O-16] is also what ended in the ms in which the record was written', async () => {
    const incident = await openedCircuit(0);
    const integrations = incident.integrations.map((each) => ({
      ...each,
      records: each.records.map((record) => ({ ...record, at: record.at - 1.5 })),
    }));
    const { first, lines } = await play({ ...incident, integrations });
    expect(first).toBeUndefined();
    expect(lines.find(({ of }) => of === 'kb-2')?.replayed?.what).toBe('failed: transient, 1 attempt');
  });

  it('[O-16] is not what came after the record ended, which is told as that', () => {
    const step = (what: string, atMs: number, isAfterEnd = false): ReplayStep => ({
      of: 'session alice',
      what,
      atMs,
      ...(isAfterEnd && { isAfterEnd }),
    });
    const both = step('turn ended well', 10);
    const later = step('turn ended badly', 900, true);
    expect(compare([both, later], [both])).toMatchObject({
      isSame: true,
      first: undefined,
      lines: [{ isSame: true }, { isSame: false, isAfterEnd: true }],
    });
    expect(compare([both], [both, later])).toMatchObject({ isSame: true, lines: [{}, { isAfterEnd: true }] });
    const before = step('watchdog fired: turn', 890);
    expect(compare([both, before], [both, later]).first).toMatchObject({ recorded: before, replayed: later });
  });
});
