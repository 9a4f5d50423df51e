import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/policy/failures/failure.ts';
import type { SupervisedSession } from '../../../src/sessions/supervisedSession.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import { fault } from '../../support/startIntegration.ts';
import { startSession, type StartedSession } from '../../support/startSession.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const unlimited = { policy: { limits: { idleMs: Infinity, attemptMs: Infinity, overallMs: Infinity } } };
const note = { by: 'anna', why: 'it hangs' };

/** A session whose every message calls `kb.query`, and that keeps how each message ended. */
function startCaller() {
  const results: ToolResult[] = [];
  const started = startSession({
    onMessage: async (_message, turn) => {
      const result = await turn.tool('kb', 'query');
      results.push(result);
      return result.status;
    },
  });
  return { ...started, results };
}

async function send(session: SupervisedSession, outcomes: Outcome<unknown>[] = []): Promise<Outcome<unknown>[]> {
  const accepted = await session.send({ kind: 'user' });
  if (accepted.accepted) void accepted.processed.then((outcome) => outcomes.push(outcome));
  return outcomes;
}

const ruleOf = ({ session }: Pick<StartedSession, 'session'>, rule: string): string =>
  session.why().rules.find((each) => each.rule === rule)?.id ?? `no rule ${rule}`;

describe('a rule of a session that is fired', () => {
  it('[O-13] is the watchdog of a tool call: the agent gets its result, and the next message is taken', async () => {
    const started = startCaller();
    const { session, clock, tool, results, facts } = started;
    tool('kb', never, unlimited);
    const outcomes = await send(session);
    await send(session, outcomes);
    await clock.advance(1000);
    expect(session.fire(ruleOf(started, 'tool_call'), note)).toEqual({
      ok: true,
      text: 'The watchdog ended the call query (agent:main-1-1) of session agent:main; its caller got a synthetic error result.',
    });
    await clock.settle();
    expect(results).toMatchObject([
      {
        ...{ status: 'error', synthetic: true, kind: 'watchdog', outcome: 'unknown' },
        error: expect.stringContaining('was fired by an operator (anna): it hangs') as string,
      },
    ]);
    expect(facts.of('session.tool_failed')).toMatchObject([
      {
        message: expect.stringContaining(
          'The watchdog of query, with a limit of 5m, was fired by an operator',
        ) as string,
      },
    ]);
    expect(outcomes).toMatchObject([{ ok: true }]);
    expect(session.why().turn).toMatchObject({ turn: 2 });
    const told = facts.all.map(({ type }) => type);
    expect(told.indexOf('operator.fired')).toBe(told.indexOf('session.watchdog_fired') - 1);
    expect(facts.of('operator.fired')).toEqual([
      {
        type: 'operator.fired',
        ...{ session: 'agent:main', turn: 1, rule: 'tool_call', what: 'query', call: 'agent:main-1-1' },
        ...{ integration: 'kb', inMs: 299_000, ...note },
      },
    ]);
    // Of the first call its own time finds nothing.
    await clock.advance(298_999);
    expect(results).toHaveLength(1);
    expect(facts.of('session.watchdog_fired')).toHaveLength(1);
  });

  it('[O-13] is the next attempt of a call that backs off', async () => {
    const started = startCaller();
    const { session, clock, tool, results, facts } = started;
    let calls = 0;
    tool('kb', () => (++calls === 1 ? Promise.reject(fault('transient')) : 'found'));
    await send(session);
    await clock.settle();
    expect(session.fire(ruleOf(started, 'next_attempt'), note)).toMatchObject({ ok: true });
    await clock.settle();
    expect(results).toEqual([{ status: 'ok', value: 'found', retries: 1 }]);
    expect(facts.of('operator.fired')).toMatchObject([{ rule: 'next_attempt', inMs: 100, by: 'anna' }]);
  });

  it('[O-13] is the watchdog of a turn that hangs: it is released, and fires no second time', async () => {
    const started = startSession({ onMessage: never });
    const { session, clock, facts } = started;
    const outcomes = await send(session);
    await send(session);
    // Its own time comes while the turn is being released.
    await clock.advance(599_000);
    expect(session.fire('turn-1', note)).toMatchObject({ ok: true });
    expect(session.fire('turn-1', note)).toEqual({ ok: false, text: 'The turn has been told to end already.' });
    await clock.advance(60_000);
    expect(outcomes).toMatchObject([
      {
        ok: false,
        failure: {
          ...{ kind: 'watchdog', reason: 'by_operator' },
          message: 'The watchdog of the turn was fired by an operator (anna): it hangs',
        },
      },
    ]);
    expect(facts.of('session.recovered')).toMatchObject([{ turn: 1 }]);
    expect(session.why().turn).toMatchObject({ turn: 2 });
    await clock.advance(530_000);
    expect(facts.of('session.watchdog_fired')).toMatchObject([{ rule: 'turn', turn: 1 }]);
  });

  it('[O-13] is the deadline of a question: nobody is waited for any more', async () => {
    const outcomes: Outcome<unknown>[] = [];
    const started = startSession({
      onMessage: async (_message, turn) => void outcomes.push(await turn.ask('delete?', never)),
    });
    const { session, clock, facts } = started;
    await send(session);
    await clock.settle();
    expect(session.why().rules).toMatchObject([{ id: 'turn-1:question-1', rule: 'question', what: 'delete?' }]);
    expect(session.fire('turn-1:question-1')).toMatchObject({ ok: true });
    await clock.settle();
    expect(outcomes).toMatchObject([
      {
        ok: false,
        failure: { kind: 'timeout', message: 'Nobody answered until its limit was fired by an operator: delete?' },
      },
    ]);
    expect(facts.of('operator.fired')).toMatchObject([{ rule: 'question', inMs: 3_600_000 }]);
    expect(session.state).toBe('idle');
  });

  it('[O-13] is refused where something else is waited for since it was shown, and says for what', async () => {
    const started = startCaller();
    const { session, clock, tool, facts } = started;
    let answers: (value: unknown) => void = () => undefined;
    tool('kb', () => new Promise((resolve) => (answers = resolve)), unlimited);
    await send(session);
    await clock.settle();
    const shown = ruleOf(started, 'tool_call');
    answers('found');
    await send(session);
    await clock.settle();
    expect(session.fire(shown)).toEqual({
      ok: false,
      text:
        'The rule agent:main-1-1:watchdog is over, or there never was one: what the session waits for has changed since it was shown. ' +
        'Next is tool_call of query now (agent:main-2-1:watchdog).',
    });
    answers('found');
    await clock.settle();
    expect(session.fire(shown).text).toContain('No turn is under way');
    expect(facts.of('operator.fired')).toEqual([]);
    expect(() => session.fire('')).toThrow('rule');
  });

  it('[O-13] is refused when its own time has just come', async () => {
    const started = startCaller();
    const { session, clock, tool, results } = started;
    tool('kb', never, unlimited);
    await send(session);
    await clock.settle();
    const shown = ruleOf(started, 'tool_call');
    await clock.advance(300_000);
    expect(session.fire(shown).ok).toBe(false);
    expect(results).toHaveLength(1);
  });
});

describe('a call of a session that is not tried again', () => {
  it('[O-13] ends as its attempt in flight does', async () => {
    const { session, clock, tool, results, facts } = startCaller();
    let fails: (error: unknown) => void = () => undefined;
    let calls = 0;
    tool('kb', () => {
      calls++;
      return new Promise((_resolve, reject) => (fails = reject));
    });
    await send(session);
    await clock.settle();
    expect(session.stopRetrying('agent:main-1-1', note)).toMatchObject({ ok: true });
    expect(session.stopRetrying('agent:main-1-1', note).text).toBe('No further attempt follows anyway.');
    fails(fault('transient'));
    await clock.advance(10_000);
    expect([calls, results]).toMatchObject([1, [{ status: 'error', error: 'transient fault', retries: 0 }]]);
    expect(facts.of('operator.retries_stopped')).toEqual([
      {
        type: 'operator.retries_stopped',
        ...{ session: 'agent:main', call: 'agent:main-1-1', integration: 'kb', tool: 'query', attempt: 1, ...note },
      },
    ]);
    expect(session.stopRetrying('agent:main-1-1').text).toContain('is not pending');
  });
});

describe('what an operator cancels', () => {
  it('[O-13] is a tool call: the agent gets a synthetic result, its work is aborted, and the turn goes on', async () => {
    const { session, clock, tool, results, facts } = startCaller();
    let aborted = false;
    const path = tool('kb', (_input, { signal }) => {
      signal.addEventListener('abort', () => (aborted = true));
      return never();
    });
    const outcomes = await send(session);
    await clock.settle();
    expect(session.cancel('agent:main-1-1', note)).toMatchObject({ ok: true });
    expect(session.cancel('agent:main-1-1', note).ok).toBe(false);
    await clock.settle();
    expect(results).toMatchObject([{ status: 'error', synthetic: true, kind: 'cancelled', outcome: 'cancelled' }]);
    expect(results[0]).toMatchObject({ error: expect.stringContaining('Cancelled by an operator') as string });
    expect([aborted, outcomes]).toMatchObject([true, [{ ok: true }]]);
    expect(path.stats).toMatchObject({ attempts: 0, failed: 1 });
    expect(facts.of('call.failed')).toMatchObject([{ failure: { reason: 'by_operator' } }]);
    expect(facts.of('operator.cancelled')).toEqual([
      {
        type: 'operator.cancelled',
        ...{ session: 'agent:main', turn: 1, call: 'agent:main-1-1', integration: 'kb', tool: 'query', ...note },
      },
    ]);
  });

  it('[O-13] is a turn: its calls end, its sender is told so, and the next message is taken', async () => {
    const { session, clock, tool, results, facts } = startCaller();
    tool('kb', never);
    const outcomes = await send(session);
    await send(session);
    await clock.settle();
    expect(session.cancel(undefined, note)).toMatchObject({ ok: true });
    await clock.settle();
    expect(results).toMatchObject([{ kind: 'cancelled' }]);
    expect(outcomes).toHaveLength(1);
    expect(session.why().turn).toMatchObject({ turn: 2 });
    expect(facts.of('session.watchdog_fired')).toEqual([]);
    const [told, ...more] = facts.of('operator.cancelled');
    expect([told, told?.call, more]).toMatchObject([{ turn: 1, by: 'anna' }, undefined, []]);
  });

  it('[O-13] is a turn whose handler does not listen: it is left behind as cancelled', async () => {
    const { session, clock, facts } = startSession({ onMessage: never });
    const outcomes = await send(session);
    await clock.settle();
    session.cancel();
    expect(session.cancel()).toEqual({ ok: false, text: 'The turn has been told to end already.' });
    await clock.advance(60_000);
    expect(outcomes).toMatchObject([{ ok: false, failure: { kind: 'cancelled', reason: 'by_operator' } }]);
    expect(facts.of('session.turn_failed')).toEqual([]);
    expect(session.state).toBe('idle');
    expect(session.cancel().text).toContain('No turn is under way');
    await clock.advance(600_000);
    expect(facts.of('session.watchdog_fired')).toEqual([]);
  });
});
