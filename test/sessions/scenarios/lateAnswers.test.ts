import { describe, expect, it } from 'vitest';
import { whyText } from '../../../cli/whyText.ts';
import type { ToolOptions } from '../../../src/policy/toolOptions.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { fault } from '../../support/startIntegration.ts';
import { startSession } from '../../support/startSession.ts';

/** A session whose handler does what the test says, and a job whose answers the test gives. */
function startJobs(tools: ToolOptions = { keepMs: 600_000 }, watchdogMs = 5000) {
  const jobs: (Deferred<unknown> & { readonly signal: AbortSignal })[] = [];
  let act: (turn: Turn) => Promise<unknown> = () => Promise.resolve();
  const started = startSession({
    watchdog: { toolCallMs: watchdogMs },
    onMessage: async (_message, turn) => act(turn),
  });
  started.tool(
    'jobs',
    (_request: unknown, { signal }) => {
      const job = { ...deferred<unknown>(), signal };
      jobs.push(job);
      return job.promise;
    },
    { tools: { build: tools }, policy: { limits: { idleMs: 60_000, attemptMs: 60_000, overallMs: 60_000 } } },
  );
  /** Calls the tool in a turn of its own. */
  const call = (input: unknown = { ref: 'main' }, options = {}) => {
    const results: ToolResult[] = [];
    const previous = act;
    act = async (turn) => {
      act = previous;
      results.push(await turn.tool('jobs', 'build', input, options));
    };
    void started.session.send({ kind: 'user', text: 'build' });
    return results;
  };
  return { ...started, jobs, call, acts: (next: typeof act) => (act = next) };
}

describe('the late answer of a tool call', () => {
  it('[R-18] [G-6] is kept where the watchdog of the session ended the call, and the agent is told until when to ask again', async () => {
    const { call, jobs, clock } = startJobs();
    const first = call();
    await clock.advance(5000);
    expect(first).toMatchObject([{ status: 'error', synthetic: true, kind: 'watchdog', retryable: true }]);
    expect(first[0]).toHaveProperty('keptUntil', clock.wallNow() + 600_000);
    expect((first[0] as { error: string }).error).toMatch(
      /make the same call again within 10m \(until \d\d:\d\d:\d\d UTC\)/,
    );
    expect(jobs[0]?.signal.aborted).toBe(false);
  });

  it('[R-18] is given to the next equal call of a later turn, once, with its age in words for the agent too', async () => {
    const { call, jobs, clock, facts } = startJobs();
    call();
    await clock.advance(5000);
    jobs[0]?.resolve({ content: [{ type: 'text', text: 'built' }] });
    await clock.advance(60_000);
    expect(facts.of('session.late_result')).toHaveLength(1);
    const second = call();
    await clock.settle();
    const note = '(Not done again: the same call was made 1m5s ago, and answered 1m ago.)';
    expect(second).toMatchObject([
      { status: 'ok', joined: true, note, value: { content: [{ text: 'built' }, { type: 'text', text: note }] } },
    ]);
    expect(jobs).toHaveLength(1);
    call();
    await clock.settle();
    expect(jobs).toHaveLength(2);
  });

  it('[R-18] other arguments are another call, whatever the order of names', async () => {
    const { call, jobs, clock } = startJobs();
    call({ ref: 'main', clean: true });
    await clock.advance(5000);
    call({ clean: true, ref: 'main' });
    await clock.advance(5000);
    expect(jobs).toHaveLength(1);
    call({ ref: 'other', clean: true });
    await clock.settle();
    expect(jobs).toHaveLength(2);
  });

  it('[R-18] `fresh` asks anew', async () => {
    const { call, jobs, clock } = startJobs();
    call();
    await clock.advance(5000);
    call({ ref: 'main' }, { fresh: true });
    await clock.settle();
    expect(jobs).toHaveLength(2);
  });

  it('[R-18] nothing is kept of what does not declare it: it is aborted as ever', async () => {
    const { call, jobs, clock } = startJobs({});
    const first = call();
    await clock.advance(5000);
    expect(jobs[0]?.signal.aborted).toBe(true);
    expect(first[0]).not.toHaveProperty('keptUntil');
    call();
    await clock.settle();
    expect(jobs).toHaveLength(2);
  });

  it('[R-18] a signal of the caller that times out keeps it, its own cancel ends it', async () => {
    for (const [reason, isKept] of [
      [new DOMException('too late', 'TimeoutError'), true],
      [new Error('no longer wanted'), false],
    ] as const) {
      const { call, jobs, clock } = startJobs();
      const controller = new AbortController();
      call({ ref: 'main' }, { signal: controller.signal });
      await clock.settle();
      controller.abort(reason);
      await clock.settle();
      expect(jobs[0]?.signal.aborted).toBe(!isKept);
    }
  });

  it('[R-18] [G-15] joins are no repetition: an agent that asks for the answer again and again is never told of', async () => {
    const { acts, jobs, clock, facts, session } = startJobs({ keepMs: 3_600_000 });
    const results: ToolResult[] = [];
    acts(async (turn) => {
      for (let index = 0; index < 30; index++) results.push(await turn.tool('jobs', 'build', { ref: 'main' }));
    });
    void session.send({ kind: 'user', text: 'build' });
    await clock.advance(5000 * 31);
    expect(results).toHaveLength(30);
    expect(results.slice(1).every((result) => result.joined === true && 'keptUntil' in result)).toBe(true);
    expect(facts.of('session.spinning')).toEqual([]);
    expect(jobs).toHaveLength(1);
  });

  it('[R-18] its error is given once, as the tool said it', async () => {
    const { call, jobs, clock } = startJobs();
    call();
    await clock.advance(5000);
    jobs[0]?.reject(fault('permanent', { message: 'Disk full', outcome: 'failed' }));
    await clock.settle();
    const second = call();
    await clock.settle();
    expect(second).toMatchObject([
      {
        status: 'error',
        joined: true,
        error: expect.stringContaining('Disk full (the same call was made 5s ago') as unknown,
      },
    ]);
    call();
    await clock.settle();
    expect(jobs).toHaveLength(2);
  });

  it('[R-18] after the death of what ran it the first equal call is answered unknown, and not made', async () => {
    const { call, jobs, clock } = startJobs();
    call();
    await clock.advance(5000);
    jobs[0]?.reject(fault('crash', { message: 'gone' }));
    await clock.settle();
    const second = call();
    await clock.settle();
    expect(second).toMatchObject([{ status: 'error', synthetic: true, outcome: 'unknown', attempts: 0, joined: true }]);
    expect(jobs).toHaveLength(1);
    call();
    await clock.settle();
    expect(jobs).toHaveLength(2);
  });

  it('[R-18] [O-13] a call that has joined one says so while it waits', async () => {
    const { call, clock, session } = startJobs();
    call();
    await clock.advance(5000);
    call();
    await clock.settle();
    expect(session.why().calls).toMatchObject([
      {
        progress: {
          phase: 'reconciling',
          reconciling: { state: 'kept', held: true, inMs: 600_000 },
          next: { rule: 'overall_timeout' },
        },
      },
    ]);
  });

  it('[R-18] [O-13] work that outlives its call is told while its session is idle', async () => {
    const { call, jobs, clock, session } = startJobs();
    call();
    await clock.advance(12_000);
    const kept = [
      { integration: 'jobs', tool: 'build', sinceMs: 12_000, inMs: 593_000, until: clock.wallNow() + 593_000 },
    ];
    expect(session.why()).toMatchObject({ state: 'idle', calls: [], kept });
    expect(whyText(session.why())).toContain('goes on after its limit: jobs build for 12s, kept until 00:10:05 UTC');
    jobs[0]?.resolve('built');
    await clock.settle();
    expect(session.why()).not.toHaveProperty('kept');
  });
});
