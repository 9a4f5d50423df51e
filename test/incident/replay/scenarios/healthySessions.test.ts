import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { Incident } from '../../../../incident/incident.ts';
import { AttemptError } from '../../../../src/policy/failures/failure.ts';
import { replay } from '../../../../incident/replay/replay.ts';
import type { ReplayResult } from '../../../../incident/replay/compare.ts';
import type { Turn } from '../../../../src/sessions/turn.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { gathered, readBack } from '../gathered.ts';

/** The clock of a machine that sets its wall time, in whole ms, while its gateway runs. */
class MachineClock extends SimulatedClock {
  override wallNow(): number {
    return Math.floor(super.wallNow());
  }
}

type After = (ms: number) => Promise<void>;

/** Kinds of turns, each of which comes to what it should. */
const kinds: Readonly<Record<string, (turn: Turn, after: After) => Promise<unknown>>> = {
  'calls nothing': (_, after) => after(3),
  'calls a tool that answers at once': (turn) => turn.tool('fast', 'find', {}),
  'calls one after the other': async (turn) => {
    for (let calls = 0; calls < 5; calls++) await turn.tool('fast', 'find', {});
  },
  'calls many at once': (turn) => Promise.all(Array.from({ length: 12 }, () => turn.tool('fast', 'find', {}))),
  'calls more at once than may run': (turn) =>
    Promise.all(Array.from({ length: 6 }, () => turn.tool('narrow', 'find', {}))),
  'has a call made again': (turn) => turn.tool('flaky', 'find', {}, { effect: 'readOnly' }),
  'reads a stream': async (turn) => {
    const answer = turn.stream<object, number>('streamed', 'read', {});
    for await (const _ of answer.chunks) turn.touch();
    await answer.result;
  },
  'asks a person': async (turn, after) => {
    await turn.ask('go on?', () => after(90_000), { overallMs: 600_000 });
    await turn.tool('fast', 'find', {});
  },
  'takes the place of its own call': async (turn, after) => {
    const first = turn.tool('slow', 'find', {}, { scope: 'one' });
    await after(5);
    await Promise.all([first, turn.tool('slow', 'find', {}, { scope: 'one', replace: true })]);
  },
  'cancels a call that it waits for': (turn, after) => {
    const cancels = new AbortController();
    void after(10).then(() => cancels.abort());
    return turn.tool('slow', 'find', {}, { signal: cancels.signal });
  },
  'makes a call that is cancelled already': (turn) => turn.tool('slow', 'find', {}, { signal: AbortSignal.abort() }),
  'leaves a call behind': (turn, after) => {
    void turn.tool('slow', 'find', {});
    return after(5);
  },
  'declares a call long-running': (turn) => turn.tool('slow', 'find', {}, { longRunningMs: 3_600_000 }),
  'cancels a call that waits for its place': async (turn, after) => {
    const cancels = new AbortController();
    void after(15).then(() => cancels.abort());
    const [first, second] = [
      turn.tool('single', 'find', {}),
      turn.tool('single', 'find', {}, { signal: cancels.signal }),
    ];
    await Promise.all([first, second]);
  },
  'calls one tool after the other': async (turn) => {
    for (const name of ['slow', 'fast', 'slow']) await turn.tool(name, 'find', {});
  },
  'keeps to a rate limit': async (turn) => {
    for (let calls = 0; calls < 4; calls++) await turn.tool('rated', 'find', {});
  },
};

/** The incident of a session whose messages are each such a turn. @param slipMs - by which the machine sets its wall time forth and back. */
async function recorded(turns: readonly string[], slipMs: number): Promise<Incident> {
  const clock = new MachineClock();
  const after: After = (ms) => new Promise((resolve) => void clock.setTimeout(resolve, ms));
  const gateway = createGateway({ clock, random: seededRandom(7), store: ':memory:', alerts: false });
  const answers = (ms: number) => () => after(ms).then(() => 'found');
  gateway.integration('fast', {}, answers(0.2));
  gateway.integration('slow', {}, answers(20));
  gateway.integration('narrow', { policy: { maxInFlight: 2, queueLength: 100 } }, answers(10));
  gateway.integration('single', { policy: { maxInFlight: 1, queueLength: 100 } }, answers(40));
  gateway.integration('rated', { policy: { rate: { requests: 2, perMs: 100 } } }, answers(0.2));
  gateway.integration('streamed', {}, async function* () {
    for (const chunk of [1, 2]) {
      await after(3.3);
      yield chunk;
    }
  });
  let attempts = 0;
  gateway.integration('flaky', {}, async () => {
    await after(1.4);
    if (++attempts % 2 === 1) throw new AttemptError({ kind: 'transient', message: 'HTTP 503', outcome: 'failed' });
    return 'found';
  });
  const session = gateway.session('alice', {
    onMessage: ({ text = '' }, turn) => kinds[text]?.(turn, after),
    watchdog: { turnMs: 30_000 },
  });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  for (const [index, text] of turns.entries()) {
    // Some begin in the ms in which the one before ended.
    void session.send({ kind: 'user', text });
    if (index % 3 > 0) await clock.advance(0.7);
    else await clock.advance(200_000.3);
    clock.stepWall(index % 2 === 0 ? slipMs : -slipMs);
  }
  await clock.advance(400_000);
  return readBack(await gathered(gateway, 'alice', clock));
}

const played = (incident: Incident, policy: readonly string[] = []): Promise<ReplayResult> =>
  replay(incident, { clock: new SimulatedClock(), random: seededRandom(1), policy });

const slips = [0, 0.4, -1.7, 28, -28];

describe('the replay of a healthy session', () => {
  it.each(Object.keys(kinds))('[O-16] ends as it did: each turn %s', async (kind) => {
    for (const slipMs of slips) {
      const { first, lines } = await played(
        await recorded(
          Array.from({ length: 7 }, () => kind),
          slipMs,
        ),
      );
      expect({ slipMs, first }).toEqual({ slipMs, first: undefined });
      expect(lines.filter(({ recorded: was }) => was?.what === 'turn ended well')).toHaveLength(7);
    }
  });

  it.each(slips)('[O-16] ends as it did: turns of all kinds, the wall time %d ms to and fro', async (slipMs) => {
    const { first, lines } = await played(await recorded(Object.keys(kinds), slipMs));
    expect(first).toBeUndefined();
    expect(lines.length).toBeGreaterThan(45);
  });

  it('[O-16] ends otherwise where a policy of its own makes it do so', async () => {
    const incident = await recorded(['has a call made again', 'calls one after the other'], 0);
    const { isSame, first } = await played(incident, ['retry.maxAttempts=1']);
    expect(isSame).toBe(false);
    expect(first).toMatchObject({
      of: 'flaky-1',
      recorded: { what: 'answered, 2 attempts' },
      replayed: { what: 'failed: transient, 1 attempt' },
    });
  });

  it('[O-16] lets a call that waited for its place wait as long, so that more places let it begin', async () => {
    const incident = await recorded(['cancels a call that waits for its place'], 0);
    const { lines } = await played(incident);
    const cancelled = lines.find(({ of }) => of === 'single-2');
    expect(cancelled?.replayed?.what).toBe('refused: cancelled, 0 attempts');
    expect(cancelled?.replayed?.atMs).toBeCloseTo(cancelled?.recorded?.atMs ?? 0, 0);
    expect((await played(incident, ['maxInFlight=2'])).first).toMatchObject({
      of: 'single-2',
      recorded: { what: 'refused: cancelled, 0 attempts' },
      replayed: { what: 'failed: cancelled, 1 attempt' },
    });
  });

  it.each<[string, (incident: Incident) => Incident, object]>([
    [
      'a policy with fewer attempts',
      (incident) => ({
        ...incident,
        integrations: incident.integrations.map((each) => ({
          ...each,
          records: each.records.map((record) => ({
            ...record,
            retries: record.retries.map((retry) => ({ ...retry, maxAttempts: 1 })),
          })),
        })),
      }),
      { of: 'flaky-1', recorded: { what: 'answered, 2 attempts' }, replayed: { what: 'failed: transient, 1 attempt' } },
    ],
    [
      'an end of a turn before the last of its calls',
      (incident) => ({
        ...incident,
        events: incident.events.map((event) =>
          event.type === 'turn_ended' && event.metadata['turn'] === 1 ? { ...event, at: event.at - 5000 } : event,
        ),
      }),
      { of: 'session alice', recorded: { what: 'turn ended well' }, replayed: { what: 'turn ended well' } },
    ],
    [
      'a watchdog that fired',
      (incident) => ({
        ...incident,
        events: incident.events.flatMap((event) =>
          event.type === 'turn_ended' && event.metadata['turn'] === 1
            ? [{ ...event, type: 'watchdog_fired', metadata: { session: 'alice', turn: 1, rule: 'tool_call' } }, event]
            : [event],
        ),
      }),
      { of: 'session alice', recorded: { what: 'watchdog fired: tool_call' }, replayed: { what: 'turn ended well' } },
    ],
    [
      'a place that was taken',
      (incident) => ({
        ...incident,
        integrations: incident.integrations.map((each) => ({
          ...each,
          ...(each.name === 'narrow' &&
            each.kept && { kept: { ...each.kept, policy: { ...each.kept.policy, queueLength: 0 } } }),
        })),
      }),
      { recorded: { what: 'answered, 1 attempt' }, replayed: { what: 'refused: too_many_requests, 0 attempts' } },
    ],
  ])('[O-16] ends otherwise where the record has %s', async (_, planted, expected) => {
    const turns = ['has a call made again', 'calls more at once than may run', 'takes the place of its own call'];
    const incident = await recorded(turns, 0);
    expect((await played(incident)).isSame).toBe(true);
    const { isSame, first } = await played(planted(incident));
    expect(isSame).toBe(false);
    expect(first).toMatchObject(expected);
  });
});
