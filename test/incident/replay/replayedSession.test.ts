import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Incident } from '../../../incident/incident.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { replay } from '../../../incident/replay/replay.ts';
import type { ReplayResult } from '../../../incident/replay/compare.ts';
import type { Message } from '../../../src/sessions/mailbox.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import { seededRandom } from '../../../testing/random.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { gathered, readBack } from './gathered.ts';

const session = 'agent:main';

interface Recorded {
  readonly incident: Incident;
  readonly results: readonly ToolResult[];
}

/** What a session's turns did, of messages that were sent one after the other; its tools take 50 ms. */
async function recorded(
  texts: readonly string[],
  {
    lastMs = 120_000,
    earlier = [],
    about = session,
  }: { lastMs?: number; earlier?: readonly string[]; about?: string } = {},
): Promise<Recorded> {
  const clock = new SimulatedClock();
  const after = <T>(ms: number, run: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      clock.setTimeout(() => {
        try {
          resolve(run());
        } catch (error) {
          reject(error);
        }
      }, ms);
    });
  const gateway = createGateway({ clock, random: seededRandom(7), store: ':memory:', alerts: false });
  let calls = 0;
  gateway.integration(
    'kb',
    { effect: 'readOnly', policy: { limits: { idleMs: 60_000, attemptMs: 60_000, overallMs: 90_000 } } },
    ({ tool }: { tool: string }) => {
      if (tool.startsWith('hang')) return new Promise<string>(() => undefined);
      return after(50, () => {
        if (tool === 'flaky' && ++calls % 2 === 1)
          throw new AttemptError({ kind: 'transient', message: 'gateway closed (1012)', outcome: 'failed' });
        return 'found';
      });
    },
  );
  const results: ToolResult[] = [];
  const onMessage = async ({ text = '' }: Message, turn: Turn): Promise<void> => {
    if (text === 'stuck') return new Promise(() => undefined);
    if (text === 'stuck until told') {
      return new Promise((_, reject) => {
        turn.signal.addEventListener('abort', () => reject(new Error('told to end')));
      });
    }
    if (text === 'calls nothing') return after(30, () => undefined);
    if (text === 'throws') throw new Error('a mistake in the handler');
    for (const tool of text.split(',')) {
      const options = tool === 'hang for long' ? { longRunningMs: 8000 } : {};
      results.push(await turn.tool('kb', tool, { query: text }, options));
    }
    await after(30, () => undefined);
  };
  const watchdog = { toolCallMs: 5000, turnMs: 20_000, releaseMs: 1000, recoveryMs: 5000 };
  const agent = gateway.session(session, { onMessage, watchdog });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  for (const text of earlier) void agent.send({ kind: 'user', text });
  // Longer ago than the incident begins.
  if (earlier.length > 0) await clock.advance(2 * 3_600_000);
  for (const text of texts) void agent.send({ kind: 'user', text });
  await clock.advance(lastMs);
  return { incident: readBack(await gathered(gateway, about, clock)), results };
}

const played = (incident: Incident, policy: readonly string[] = []): Promise<ReplayResult> =>
  replay(incident, { clock: new SimulatedClock(), random: seededRandom(1), policy });

/** What the replay did, as its lines say. */
const ofSession = ({ lines }: ReplayResult): readonly (string | undefined)[] =>
  lines.filter(({ of }) => of === `session ${session}`).map(({ replayed }) => replayed?.what);

describe('the replay of a session', () => {
  it('[O-16] has the watchdog end a tool call that hangs, at the time it did', async () => {
    const { incident, results } = await recorded(['ok', 'hang,ok']);
    expect(results.map(({ status }) => status)).toEqual(['ok', 'error', 'ok']);
    const result = await played(incident);
    expect(result.first).toBeUndefined();
    expect(ofSession(result)).toEqual(['turn ended well', 'watchdog fired: tool_call', 'turn ended well']);
    expect(result.lines.map(({ of, replayed }) => [of, replayed?.what])).toContainEqual([
      'kb-2',
      'failed: watchdog, 1 attempt',
    ]);
  });

  it('[O-16] goes on from the turns that the session had before the incident begins', async () => {
    const { incident } = await recorded(['ok', 'hang,ok', 'ok'], { earlier: ['ok', 'flaky', 'ok'] });
    const turns = incident.events.filter(({ type }) => type === 'turn_started').map(({ metadata }) => metadata['turn']);
    expect(turns).toEqual([4, 5, 6]);
    const result = await played(incident);
    expect(result.first).toBeUndefined();
    expect(ofSession(result)).toEqual([
      'turn ended well',
      'watchdog fired: tool_call',
      'turn ended well',
      'turn ended well',
    ]);
    // Calls of turns whose begin is not in it are played by themselves.
    expect(result.lines.filter(({ of }) => of.startsWith('kb-')).map(({ replayed }) => replayed?.what)).toEqual([
      'answered, 1 attempt',
      'answered, 2 attempts',
      'answered, 1 attempt',
      'answered, 1 attempt',
      'failed: watchdog, 1 attempt',
      'answered, 1 attempt',
      'answered, 1 attempt',
    ]);
  });

  it('[O-16] is also that of one of its calls, by the id that the session has for it', async () => {
    const { incident } = await recorded(['ok', 'hang,ok'], { about: `${session}-1-1` });
    expect(incident.subject).toEqual({ kind: 'call', id: `${session}-1-1` });
    const { lines, first } = await played(incident);
    expect(first).toBeUndefined();
    expect(lines.map(({ of, replayed }) => [of, replayed?.what])).toContainEqual([
      'kb-2',
      'failed: watchdog, 1 attempt',
    ]);
  });

  it('[O-16] knows the limit of a call that declared itself long-running', async () => {
    const { incident } = await recorded(['hang for long', 'ok']);
    const sessions = incident.sessions.map((each) => ({ ...each, watchdog: { ...each.watchdog, toolCallMs: 2000 } }));
    const result = await played({ ...incident, sessions });
    expect(result.first).toBeUndefined();
    expect(result.lines.find(({ replayed }) => replayed?.what.startsWith('watchdog'))?.replayed?.atMs).toBe(8010);
  });

  it.each([
    ['ends when it is told to', 'stuck until told'],
    ['does not end when it is told to, and leaves it behind', 'stuck'],
  ])('[O-16] has the watchdog end a turn without progress, which %s', async (_, act) => {
    const { incident } = await recorded(['ok', act, 'ok']);
    const result = await played(incident);
    expect(result.first).toBeUndefined();
    expect(ofSession(result)).toEqual([
      'turn ended well',
      'watchdog fired: turn',
      'turn ended badly',
      'turn ended well',
    ]);
  });

  it('[O-16] plays calls of a session with another policy: retries and limits of their own give way to it', async () => {
    const { incident } = await recorded(['flaky', 'ok']);
    expect((await played(incident)).first).toBeUndefined();
    const once = await played(incident, ['retry.maxAttempts=1']);
    expect(once.first?.replayed?.what).toMatch(/failed|badly/);
    const hurried = await played((await recorded(['hang', 'ok'])).incident, [
      'limits.overallMs=1000',
      'limits.attemptMs=1000',
      'limits.idleMs=1000',
    ]);
    expect(
      hurried.lines.some(({ recorded: one, replayed: other }) => (one?.atMs ?? 0) - (other?.atMs ?? 0) > 500),
    ).toBe(true);
  });

  it('[O-16] tries a call again inside a turn, as often as it was', async () => {
    const { incident, results } = await recorded(['flaky', 'throws', 'flaky,hang', 'ok']);
    expect(results).toMatchObject([{ retries: 1 }, { retries: 1 }, { status: 'error' }, { retries: 0 }]);
    const result = await played(incident);
    expect(result.first).toBeUndefined();
    expect(ofSession(result)).toEqual([
      'turn ended well',
      'turn ended badly',
      'watchdog fired: tool_call',
      'turn ended well',
      'turn ended well',
    ]);
    expect(result.lines.map(({ of, replayed }) => [of, replayed?.what])).toContainEqual([
      'kb-1',
      'answered, 2 attempts',
    ]);
  });

  it('[O-16] plays turns that called nothing', async () => {
    const { incident } = await recorded(['calls nothing', 'throws', 'stuck until told', 'calls nothing']);
    expect(incident.integrations).toEqual([]);
    const result = await played(incident);
    expect(result.first).toBeUndefined();
    expect(ofSession(result)).toEqual([
      'turn ended well',
      'turn ended badly',
      'watchdog fired: turn',
      'turn ended badly',
      'turn ended well',
    ]);
    const sessions = incident.sessions.map((each) => ({ ...each, watchdog: { ...each.watchdog, turnMs: 30_000 } }));
    expect((await played({ ...incident, sessions })).first?.recorded?.what).toBe('watchdog fired: turn');
  });

  it('[O-16] says where it differs when the limits of the session are changed', async () => {
    const { incident } = await recorded(['ok', 'hang,ok']);
    const sessions = incident.sessions.map((each) => ({ ...each, watchdog: { ...each.watchdog, toolCallMs: 2000 } }));
    const { isSame, first } = await played({ ...incident, sessions });
    expect(isSame).toBe(false);
    expect(first?.of).toBe(`session ${session}`);
    expect(first?.recorded?.what).toBe('watchdog fired: tool_call');
    const [before, after] = [first?.recorded?.atMs ?? 0, first?.replayed?.atMs ?? 0];
    expect(before - after).toBeGreaterThan(2900);
  });

  it('[O-16] says where it differs when what a turn came to is changed', async () => {
    const { incident } = await recorded(['ok', 'stuck until told', 'ok']);
    const events = incident.events.map((event) =>
      event.type === 'watchdog_fired' ? { ...event, metadata: { ...event.metadata, rule: 'tool_call' } } : event,
    );
    expect(await played({ ...incident, events })).toMatchObject({
      isSame: false,
      first: { of: `session ${session}`, recorded: { what: 'watchdog fired: tool_call' } },
    });
  });
});
