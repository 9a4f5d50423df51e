import { describe, expect, it } from 'vitest';
import type { SessionOptions } from '../../../src/sessions/sessionOptions.ts';
import type { ToolOptions } from '../../../src/policy/toolOptions.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import { whyText } from '../../../cli/whyText.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { fault } from '../../support/startIntegration.ts';
import { startSession } from '../../support/startSession.ts';

interface Loop {
  /** Calls of each message. @defaultValue 99, or until its turn is aborted */
  readonly calls?: number;
  readonly input?: (index: number) => unknown;
  readonly answer?: (index: number) => unknown;
  readonly tools?: Record<string, ToolOptions>;
  readonly integration?: string;
  readonly spinning?: SessionOptions['spinning'];
  /** Wait between two calls, in ms. @defaultValue none */
  readonly pauseMs?: number;
  readonly clean?: (text: string) => string;
  /** Told after each result. */
  readonly seen?: (result: ToolResult, turn: Turn) => void;
}

const failing = (): never => {
  throw new AttemptError({ kind: 'permanent', message: 'String to replace not found in file', outcome: 'failed' });
};

/** A session whose handler makes one call after the other, and heeds nothing that it is told. */
function startLoop({ calls = 99, input = () => ({ a: 1 }), answer = failing, seen, clean, ...loop }: Loop) {
  const results: ToolResult[] = [];
  let dispatched = 0;
  const options: SessionOptions = {
    ...(loop.spinning !== undefined && { spinning: loop.spinning }),
    onMessage: async (_message, turn) => {
      for (let index = 0; index < calls && !turn.signal.aborted; index++) {
        const result = await turn.tool(loop.integration ?? 'files', 'edit', input(index));
        results.push(result);
        seen?.(result, turn);
        const { pauseMs } = loop;
        if (pauseMs !== undefined)
          await new Promise<void>((resolve) => void started.clock.setTimeout(resolve, pauseMs));
      }
      return 'given up';
    },
  };
  const started = startSession(options, undefined, { clean });
  started.tool('files', () => answer(dispatched++), { tools: loop.tools ?? {} });
  const send = async () => {
    const accepted = await started.session.send({ kind: 'user', text: 'mend it' });
    if (!accepted.accepted) throw new Error(accepted.reason);
    await started.clock.advance(60_000);
    return accepted.processed;
  };
  return { ...started, results, send, dispatched: () => dispatched };
}

const notes = (results: readonly ToolResult[]) =>
  results.flatMap(({ note }, index) => (note === undefined ? [] : [`${index + 1} ${note}`]));
const read = { edit: { effect: 'readOnly' } } as const;

describe('a tool call that a session repeats', () => {
  it('[G-15] is told of at the 4th equal failure, its agent at the 6th, and its turn ends at the 20th', async () => {
    const { send, results, facts, dispatched, session } = startLoop({});
    const outcome = await send();
    expect(dispatched()).toBe(20);
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'spinning', retryable: false, message: expect.stringContaining('called 20 times') as unknown },
    });
    expect(outcome.ok ? '' : outcome.failure.message).not.toContain('\n');
    expect(facts.of('session.spinning')).toMatchObject([
      { session: 'agent:main', turn: 1, integration: 'files', tool: 'edit', step: 'notice', form: 'failure', count: 4 },
      { step: 'tell', count: 6, answer: 'String to replace not found in file' },
      { step: 'end', count: 20 },
    ]);
    expect(notes(results).map((note) => note.split(' was called ')[0])).toEqual([
      '6 [unwedge: files edit',
      '12 [unwedge: files edit',
      '18 [unwedge: files edit',
      '20 This is spinning, and is ended here: files edit',
    ]);
    expect(results[4]).toEqual({
      status: 'error',
      error: 'String to replace not found in file',
      retries: 0,
      recoverable: false,
    });
    const told = results[5];
    expect(told).toMatchObject({ error: `String to replace not found in file ${told?.note}` });
    expect(facts.of('session.turn_failed')).toMatchObject([{ kind: 'spinning', turn: 1 }]);
    expect(facts.of('session.turn_ended')).toMatchObject([{ ok: false }]);
    expect(session.history.filter(({ type }) => type === 'tool_result')).toHaveLength(20);
  });

  it('[G-15] ends its turn as the watchdog does: told, released, left behind where it does not end', async () => {
    const after: ToolResult[] = [];
    const { session, clock, facts, tool } = startSession({
      onMessage: async ({ text }, turn) => {
        if (text === 'next') return 'next';
        for (let each = 0; each < 99 && !turn.signal.aborted; each++) await turn.tool('files', 'edit');
        after.push(await turn.tool('files', 'edit'));
        return new Promise(() => undefined);
      },
    });
    let dispatched = 0;
    tool('files', () => {
      dispatched++;
      return failing();
    });
    const first = await session.send({ kind: 'user' });
    const second = await session.send({ kind: 'user', text: 'next' });
    await clock.advance(4_999);
    expect(session.why().rules).toMatchObject([{ rule: 'release' }]);
    await clock.advance(1);
    expect([await (first.accepted && first.processed), await (second.accepted && second.processed)]).toMatchObject([
      { ok: false, failure: { kind: 'spinning' } },
      { ok: true, value: 'next' },
    ]);
    expect([dispatched, after]).toMatchObject([20, [{ kind: 'cancelled', outcome: 'not_started' }]]);
    expect(facts.of('session.watchdog_fired')).toEqual([]);
    expect(facts.of('session.recovered')).toMatchObject([{ turn: 1, releasedAfterMs: 5_000 }]);
  });

  it('[G-15] may be made again for a new message after the end, as often', async () => {
    const { send, dispatched, facts } = startLoop({});
    await send();
    expect((await send()).ok).toBe(false);
    expect(dispatched()).toBe(40);
    expect(facts.of('session.turn_failed')).toHaveLength(2);
  });

  it('[G-15] ends no turn over several messages', async () => {
    const { send, dispatched, results } = startLoop({ calls: 19 });
    for (let message = 0; message < 3; message++) expect(await send()).toEqual({ ok: true, value: 'given up' });
    expect([dispatched(), notes(results).length]).toEqual([57, 9]);
  });

  it('[G-15] is refused where that is chosen, without a dispatch, with what was answered when', async () => {
    const { send, results, dispatched, session, facts } = startLoop({ calls: 23, spinning: 'hold' });
    expect((await send()).ok).toBe(true);
    expect(dispatched()).toBe(20);
    expect(results.slice(20)).toMatchObject([1, 2, 3].map(() => ({ synthetic: true, kind: 'spinning' })));
    expect(results[20]).toMatchObject({ outcome: 'not_started', attempts: 0, retryable: false });
    expect(results[20]).toMatchObject({
      error: expect.stringMatching(
        /^Not called again: .* last at 20.*Z: "String to replace not found in file"/,
      ) as unknown,
    });
    const kept = session.history.filter(({ type }) => type === 'tool_result');
    expect([kept.length, session.history.filter(({ type }) => type === 'tool_call').length]).toEqual([23, 23]);
    expect(facts.of('session.tool_failed').slice(20)).toMatchObject([{ kind: 'spinning' }, {}, {}]);
  });

  it.each([
    ['off', 0, 0],
    ['notice', 1, 0],
    ['tell', 2, 5],
    ['hold', 3, 3],
    ['end', 3, 4],
  ] as const)('[G-15] goes as far as `spinning: %s` says', async (spinning, news, told) => {
    const { send, results, facts } = startLoop({ calls: 30, spinning });
    await send();
    expect([facts.of('session.spinning').length, notes(results).length]).toEqual([news, told]);
    expect(facts.of('session.turn_failed')).toHaveLength(spinning === 'end' ? 1 : 0);
  });

  it.each([
    ['repeats', { edit: { repeats: 'allowed' } }, 0, 0],
    ['polls', { edit: { poll: true } }, 2, 5],
  ] as const)('[G-15] is left alone where its tool %s', async (_what, tools, news, told) => {
    const { send, results, facts, dispatched } = startLoop({ calls: 30, tools });
    expect((await send()).ok).toBe(true);
    expect([dispatched(), facts.of('session.spinning').length, notes(results).length]).toEqual([30, news, told]);
  });

  it('[G-15] and answers alike is told of from a declared read on, and goes on', async () => {
    const reads = startLoop({ calls: 40, answer: () => 'no change', tools: read });
    expect((await reads.send()).ok).toBe(true);
    expect(notes(reads.results).map((note) => note.split(' ')[0])).toEqual(['12', '24', '36']);
    expect(reads.results[11]).toMatchObject({ status: 'ok', value: 'no change' });
    const acts = startLoop({ calls: 40, answer: () => 'pressed' });
    expect((await acts.send()).ok).toBe(true);
    expect([notes(acts.results), acts.facts.of('session.spinning')]).toMatchObject([[], [{ form: 'success' }]]);
  });

  it('[G-15] is told of within the contents of an MCP tool too, and an answer of another form is left as it is', async () => {
    const contents = { content: [{ type: 'text', text: 'no change' }], isError: false };
    const mcp = startLoop({ calls: 24, answer: () => contents, tools: read });
    await mcp.send();
    const told = mcp.results[11];
    expect(told).toMatchObject({
      value: { isError: false, content: [contents.content[0], { type: 'text', text: told?.note }] },
    });
    expect(told?.note).toContain('called 12 times');
    expect(mcp.results[23]?.note).toContain('called 24 times');
    expect(contents.content).toHaveLength(1);
    const own = { content: ['no change'] };
    const other = startLoop({ calls: 12, answer: () => own, tools: read });
    await other.send();
    expect(other.results[11]).toMatchObject({ value: own, note: expect.any(String) as unknown });
  });

  it('[G-15] is another one with other arguments, of another tool or integration, and after another answer', async () => {
    const { send, facts } = startLoop({ calls: 40, input: (item) => ({ item }), answer: (item) => `item ${item}` });
    await send();
    expect(facts.of('session.spinning')).toEqual([]);
    const {
      session,
      clock,
      tool,
      facts: others,
    } = startSession({
      onMessage: async (_message, turn) => {
        for (let each = 0; each < 3; each++) {
          for (const integration of ['a', 'b', 'nowhere'])
            for (const name of ['x', 'y']) await turn.tool(integration, name, {});
        }
      },
    });
    for (const name of ['a', 'b']) tool(name, failing);
    void session.send({ kind: 'user' });
    await clock.settle();
    expect(others.of('session.spinning')).toEqual([]);
  });

  it.each([
    ['says when it may be made again', () => fault('rate_limit', { retryAfterMs: 1000 })],
    ['has no quota', () => fault('quota')],
    ['is one of a rate, without a time', () => fault('rate_limit')],
  ] as const)('[G-15] waits where its failure %s, and its handler waits', async (_what, failure) => {
    const { send, facts, results, clock } = startLoop({
      calls: 30,
      pauseMs: 60_000,
      answer: () => Promise.reject(failure()),
    });
    void send();
    await clock.advance(3_600_000);
    expect([facts.of('session.spinning'), notes(results)]).toEqual([[], []]);
  });

  it('[G-15] ends its turn where its handler calls into an open circuit at once, again and again', async () => {
    const answer = () => Promise.reject(fault('unknown', { message: 'no such text' }));
    const { send, results, dispatched } = startLoop({ answer });
    expect(await send()).toMatchObject({ ok: false, failure: { kind: 'spinning' } });
    expect(dispatched()).toBe(5);
    expect(results).toHaveLength(25);
  });

  it('[G-15] does not count what ended on our side: cancelled by its caller, or with its turn', async () => {
    const { session, clock, tool, facts } = startSession({
      onMessage: async (_message, turn) => {
        for (let each = 0; each < 30; each++)
          await turn.tool('files', 'edit', {}, { signal: AbortSignal.abort(new Error('not now')) });
      },
    });
    tool('files', failing);
    void session.send({ kind: 'user' });
    await clock.settle();
    expect(facts.of('session.spinning')).toEqual([]);
  });

  it('[G-15] [I-1] has its result where its arguments or its answer cannot be read', async () => {
    const revoked = () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return { content: [proxy], in: proxy };
    };
    const throwing = {
      get content(): never {
        throw new Error('no');
      },
    };
    const failures = startLoop({ calls: 30, input: revoked });
    expect((await failures.send()).ok).toBe(true);
    expect([failures.results.length, notes(failures.results)]).toEqual([30, []]);
    for (const answer of [revoked, () => throwing]) {
      const answers = startLoop({ calls: 30, answer, tools: read });
      expect((await answers.send()).ok).toBe(true);
      expect(answers.results.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 'ok'));
    }
  });

  it('[G-15] under way many times at once ends nothing; the next one is refused, and ends its turn', async () => {
    const results: ToolResult[] = [];
    let dispatched = 0;
    const { session, clock, tool } = startSession({
      onMessage: async (_message, turn) => {
        const all = await Promise.all(Array.from({ length: 50 }, () => turn.tool('files', 'edit')));
        expect(turn.signal.aborted).toBe(false);
        results.push(...all);
        results.push(await turn.tool('files', 'edit'));
        expect(turn.signal.aborted).toBe(true);
      },
    });
    tool('files', () => {
      dispatched++;
      return failing();
    });
    const accepted = await session.send({ kind: 'user' });
    await clock.settle();
    expect([dispatched, results.length]).toEqual([50, 51]);
    expect(results[50]).toMatchObject({ kind: 'spinning', outcome: 'not_started' });
    expect(await (accepted.accepted && accepted.processed)).toMatchObject({ failure: { kind: 'spinning' } });
  });

  it('[G-15] ends what is under way beside it with its turn, each with one result', async () => {
    const { session, clock, tool } = startSession({
      onMessage: async (_message, turn) => {
        const slow = turn.tool('slow', 'build');
        for (let each = 0; each < 99 && !turn.signal.aborted; each++) await turn.tool('files', 'edit');
        expect(await slow).toMatchObject({ kind: 'spinning', outcome: 'unknown' });
      },
    });
    tool('files', failing);
    tool('slow', () => new Promise(() => undefined));
    void session.send({ kind: 'user' });
    await clock.settle();
    const of = (wanted: string) => session.history.filter(({ type }) => type === wanted).length;
    expect([session.state, of('tool_call'), of('tool_result')]).toEqual(['idle', 21, 21]);
  });

  it.each(['end', 'hold'] as const)(
    '[G-15] is told of without the secrets that it was answered with: %s',
    async (step) => {
      const answer = () => 'No key hunter22hunter22';
      const clean = (text: string) => text.replaceAll('hunter22hunter22', '[redacted]');
      const { send, results } = startLoop({ calls: 40, spinning: step, tools: read, answer, clean });
      const outcome = await send();
      const told = JSON.stringify(step === 'end' ? outcome : results.at(-1));
      expect(told).toContain('"kind":"spinning"');
      expect(told).toContain('No key [redacted]');
      expect(told).not.toContain('hunter22');
    },
  );

  it('[G-15] counts the streams of a tool by their ends', async () => {
    const results: ToolResult[] = [];
    const { session, clock, tool, facts } = startSession({
      onMessage: async (_message, turn) => {
        for (let each = 0; each < 99 && !turn.signal.aborted; each++)
          results.push(await turn.stream('model', 'complete').result);
      },
    });
    tool('model', failing);
    void session.send({ kind: 'user' });
    await clock.settle();
    expect([results.length, notes(results).length]).toEqual([20, 4]);
    expect(facts.of('session.turn_failed')).toMatchObject([{ kind: 'spinning' }]);
  });

  it('[G-15] [O-13] is in `why` while its turn runs: what repeats, and what comes next', async () => {
    const seen: string[] = [];
    const { send, session } = startLoop({
      calls: 13,
      answer: (index) => (index === 12 ? 'done' : failing()),
      seen: () => seen.push(whyText(session.why()).split('\n')[1] ?? ''),
    });
    await send();
    expect(seen.slice(2, 4)).toEqual([
      '  no call is pending: its handler is at work',
      '  repeats: files edit was called 4 times with the same arguments and failed alike each time; tell after 2 more',
    ]);
    expect(seen[11]).toMatch(/called 12 times .*; end after 8 more$/);
    expect(seen[12]).toBe('  no call is pending: its handler is at work');
    expect(session.why().spinning).toBeUndefined();
  });

  it('[G-15] [O-13] is in `why` no more once five other calls were answered since', async () => {
    const seen: boolean[] = [];
    const { send, session } = startLoop({
      calls: 10,
      input: (index) => (index < 5 ? {} : { index }),
      answer: (index) => (index < 5 ? failing() : `done ${index}`),
      seen: () => seen.push(session.why().spinning !== undefined),
    });
    await send();
    expect(seen).toEqual([false, false, false, true, true, true, true, true, true, false]);
  });
});

describe('an operator who looks at a session that spins', () => {
  const by = 'alice';

  it('[O-13] [G-15] has equal calls refused until the next message, once, and on record', async () => {
    const { send, results, session, dispatched, facts } = startLoop({
      calls: 12,
      seen: (_result, { number: turn }) => {
        const { spinning } = session.why();
        if (turn !== 1 || dispatched() !== 8 || spinning === undefined || results.length > 8) return;
        expect(session.repetition('hold', 'another', { by }).ok).toBe(false);
        expect(session.repetition('hold', spinning.id, { by })).toMatchObject({ ok: true });
      },
    });
    await send();
    expect(dispatched()).toBe(8);
    expect(results.slice(8)).toMatchObject(Array(4).fill({ kind: 'spinning', outcome: 'not_started' }));
    expect(facts.of('operator.repetition')).toEqual([
      {
        type: 'operator.repetition',
        session: 'agent:main',
        turn: 1,
        tool: 'edit',
        order: 'hold',
        by,
      },
    ]);
    await send();
    expect(dispatched()).toBe(20);
  });

  it('[O-13] [G-15] lets it go on: the count begins anew', async () => {
    const given: boolean[] = [];
    const { send, session, dispatched, facts } = startLoop({
      seen: () => {
        const { spinning } = session.why();
        if (dispatched() === 19) given.push(session.repetition('let_go_on', spinning?.id ?? '').ok);
      },
    });
    await send();
    expect([given, dispatched()]).toEqual([[true], 39]);
    expect(facts.of('session.spinning').map(({ step }) => step)).toEqual(['notice', 'tell', 'notice', 'tell', 'end']);
    expect(session.repetition('let_go_on', '1')).toMatchObject({ ok: false });
  });
});
