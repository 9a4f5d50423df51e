import { describe, expect, it } from 'vitest';
import { AttemptError, unwrap } from '../../../src/policy/failures/failure.ts';
import { deferred } from '../../support/deferred.ts';
import { backend, eventsOf, failing, item, never, startWorkflow, untilAborted } from '../startWorkflow.ts';

const minutes = 60_000;

/** Two items, one at a time, whose work ends only when the test says so. */
const startHanging = (work: (() => void)[]) =>
  startWorkflow(
    [
      backend('primary', [item('a'), item('b')], {
        itemPolicy: { retry: { maxAttempts: 1 }, limits: { attemptMs: 1000 } },
        item: ({ id }) => new Promise((resolve) => work.push(() => resolve(id))),
      }),
    ],
    { concurrency: 1 },
  );

describe('the items of a workflow', () => {
  it('[W-4] have three attempts, after 1 and 2 s', async () => {
    const at: number[] = [];
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a')], {
        item: (_item, { attempt, maxAttempts }) => {
          at.push(clock.now());
          return attempt < maxAttempts ? failing('transient') : 'at last';
        },
      }),
    ]);
    const running = await run();
    await clock.advance(3000);
    expect(await running.outcome).toMatchObject({ status: 'succeeded', items: [{ value: 'at last', attempts: 3 }] });
    expect(at).toEqual([0, 1000, 3000]);
  });

  it('[W-4] have as many attempts as their policy says', async () => {
    let attempts = 0;
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a')], {
        itemPolicy: { retry: { maxAttempts: 2 } },
        item: () => failing('transient', `${++attempts}`),
      }),
    ]);
    await run();
    await clock.advance(minutes);
    expect(attempts).toBe(2);
  });

  it('[W-4] are done in the order of the plan, one at a time, as soon as what they depend on is done', async () => {
    const begun: string[] = [];
    const { run } = await startWorkflow([
      backend('primary', [item('e', ['c']), item('a'), item('b', ['a']), item('c'), item('d')], {
        item: ({ id }, { done }) => (begun.push(`${id}${done.size}`), id),
      }),
    ]);
    expect(await (await run()).outcome).toMatchObject({ status: 'succeeded' });
    expect(begun).toEqual(['a0', 'b1', 'c2', 'e3', 'd4']);
  });

  it('[W-4] have as many attempts as they say themselves, whatever their policy says', async () => {
    const begun: string[] = [];
    const todo = {
      mode: 'sequential',
      items: [
        { id: 'a', action: 'try once', max_attempts: 1, hint: 'kept' },
        { id: 'b', action: 'try often', max_attempts: 4 },
      ],
    };
    const { run, clock, told } = await startWorkflow([
      backend('primary', [], {
        plan: () => ({ success: true, todo }),
        item: ({ id, hint }, { maxAttempts }) => (
          begun.push(`${id} ${String(hint)} of ${maxAttempts}`), failing('transient')
        ),
      }),
    ]);
    const running = await run();
    await clock.advance(minutes);
    expect(begun).toEqual(['a kept of 1', ...Array.from({ length: 4 }, () => 'b undefined of 4')]);
    expect(
      told('workflow.primary.item_error').map(({ item: id, attempt, maxAttempts }) => [id, attempt, maxAttempts]),
    ).toEqual([
      ['a', 1, 1],
      ['b', 1, 4],
      ['b', 2, 4],
      ['b', 3, 4],
      ['b', 4, 4],
    ]);
    expect(told('workflow.primary.planned')).toMatchObject([{ mode: 'sequential' }]);
    const planned = (await eventsOf(running)).find(({ type }) => type === 'workflow_planned');
    expect(planned).toMatchObject({ data: { mode: 'sequential' } });
  });

  it.each([
    [new Error('plain'), 3],
    [Object.assign(new Error('no'), { status: 429 }), 3],
    [new DOMException('too slow', 'TimeoutError'), 3],
    [new AttemptError({ kind: 'crash', message: 'gone', outcome: 'unknown' }), 3],
    [new AttemptError({ kind: 'circuit_open', message: 'open', outcome: 'not_started' }), 3],
    [new AttemptError({ kind: 'too_many_requests', message: 'full', outcome: 'not_started' }), 3],
    [new AttemptError({ kind: 'unavailable', message: 'down', outcome: 'not_started' }), 3],
    [new AttemptError({ kind: 'watchdog', message: 'hung', outcome: 'unknown' }), 3],
    [new AttemptError({ kind: 'quota', message: 'used up', outcome: 'failed' }), 1],
    [new AttemptError({ kind: 'protocol', message: 'garbled', outcome: 'failed' }), 1],
    [new AttemptError({ kind: 'spawn', message: 'no file', outcome: 'not_started' }), 1],
    [new DOMException('mine', 'AbortError'), 1],
    [Object.assign(new Error('no'), { status: 401 }), 1],
    [Object.assign(new Error('no'), { status: 404 }), 1],
  ])('[W-4] that fail with %s have %i attempts', async (error, most) => {
    let attempts = 0;
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a')], { isCritical: () => false, item: () => (attempts++, Promise.reject(error)) }),
    ]);
    await run();
    await clock.advance(minutes);
    expect(attempts).toBe(most);
  });

  it.each([
    [undefined, 2],
    [2, 4],
  ])(
    '[R-6] [W-4] alone retry: a call with their signal makes one attempt, unless it says otherwise (%s)',
    async (maxAttempts, most) => {
      let calls = 0;
      const { gateway, run, clock } = await startWorkflow([
        backend('primary', [item('a', [], { maxAttempts: 2 })], {
          async item(_item, { signal }) {
            return unwrap(await tool.call('x', { signal, maxAttempts }));
          },
        }),
      ]);
      const tool = gateway.integration<string, string>('tool', {}, () => (calls++, failing('transient')));
      await run();
      await clock.advance(minutes);
      expect(calls).toBe(most);
    },
  );

  it('[W-4] are not tried again after a permanent error', async () => {
    let attempts = 0;
    const { run } = await startWorkflow([
      backend('primary', [item('a'), item('b')], {
        item: ({ id }) => (id === 'a' ? failing('permanent', `${++attempts}`) : id),
      }),
    ]);
    expect(await (await run()).outcome).toMatchObject({
      status: 'partial',
      items: [{ attempts: 1 }, { status: 'done' }],
    });
    expect(attempts).toBe(1);
  });

  it('[W-4] go on when another fails; what depends on it is skipped and names it', async () => {
    const { run } = await startWorkflow([
      backend('primary', [item('a'), item('b'), item('c', ['a', 'b']), item('d', ['c', 'b']), item('e', ['b'])], {
        item: ({ id }) => (id === 'a' ? failing('permanent') : id),
      }),
    ]);
    const { items, message, status } = await (await run()).outcome;
    expect(items.map((each) => each.status)).toEqual(['failed', 'done', 'skipped', 'skipped', 'done']);
    expect(items.slice(2, 4)).toMatchObject([{ because: ['a'] }, { because: ['c'] }]);
    expect([status, message]).toEqual(['partial', '2 of 5 items done by primary, 1 failed, 2 skipped']);
  });

  it('[W-4] name every failed item they depended on', async () => {
    const gate = deferred<never>();
    const { run, clock } = await startWorkflow(
      [
        backend('primary', [item('a'), item('b'), item('c', ['a', 'b']), item('d')], {
          item: ({ id }) => (id === 'a' ? failing('permanent') : id === 'b' ? gate.promise : id),
        }),
      ],
      { concurrency: 2 },
    );
    const running = await run();
    expect(running.progress).toMatchObject({ ended: 2, total: 4 });
    gate.reject(Object.assign(new Error('no'), { status: 400 }));
    await clock.settle();
    expect((await running.outcome).items[2]).toMatchObject({ status: 'skipped', because: ['a', 'b'] });
  });

  it.each([
    [undefined, 1],
    [4, 4],
    [1, 1],
    [50, 10],
  ])('[W-4] are done so many at once: %s gives %i', async (concurrency, most) => {
    let now = 0;
    let highest = 0;
    const { run, clock } = await startWorkflow(
      [
        backend(
          'primary',
          Array.from({ length: 10 }, (_, index) => item(`i${index}`)),
          {
            async item({ id }) {
              highest = Math.max(highest, ++now);
              await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 100));
              now--;
              return id;
            },
          },
        ),
      ],
      { concurrency },
    );
    const running = await run();
    await clock.advance(1000);
    expect(await running.outcome).toMatchObject({ status: 'succeeded' });
    expect(highest).toBe(most);
  });

  it('[W-4] of many runs wait for a place rather than being refused', async () => {
    const { run, clock } = await startWorkflow(
      [
        backend(
          'primary',
          Array.from({ length: 5 }, (_, index) => item(`i${index}`)),
          {
            itemPolicy: { maxInFlight: 2 },
            item: async ({ id }) => {
              await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 10));
              return id;
            },
          },
        ),
      ],
      { concurrency: 5 },
    );
    const runs = [await run(), await run()];
    await clock.advance(1000);
    for (const each of runs) expect(await each.outcome).toMatchObject({ status: 'succeeded' });
  });

  it('[W-4] [M-9] that were given up keep their place until their work ends', async () => {
    const work: (() => void)[] = [];
    const { run, clock } = await startHanging(work);
    const idle = clock.pending;
    const running = await run();
    await clock.advance(1000 + 4999);
    expect([work.length, running.progress.ended]).toEqual([1, 1]);
    work[0]?.();
    await clock.settle();
    expect(work).toHaveLength(2);
    work[1]?.();
    expect(await running.outcome).toMatchObject({ status: 'partial' });
    // The figures of its calls are in the store then.
    await clock.advance(10_000);
    expect(clock.pending).toBe(idle);
  });

  it('[W-4] [M-9] that do not end are written off after their grace, and leave no timer', async () => {
    const work: (() => void)[] = [];
    const { run, clock } = await startHanging(work);
    const idle = clock.pending;
    const running = await run();
    await clock.advance(1000 + 4999);
    expect(work).toHaveLength(1);
    await clock.advance(1);
    expect(work).toHaveLength(2);
    await clock.advance(1000);
    expect(await running.outcome).toMatchObject({ status: 'failed' });
    // What went wrong is on record by then.
    await clock.advance(15_000);
    expect(clock.pending).toBe(idle);
  });

  it('[I-3] [M-9] that were given up keep nothing once their gateway has stopped', async () => {
    const { run, clock, gateway } = await startHanging([]);
    const running = await run();
    await clock.advance(1000);
    const stopped = gateway.stop();
    await clock.settle();
    await stopped;
    await running.outcome;
    expect(clock.pending).toBe(0);
  });

  it('[W-4] [M-9] that are tried again beside work that goes on take a place for each of it', async () => {
    const begun: string[] = [];
    const { run, clock } = await startWorkflow(
      [
        backend('primary', [item('a'), item('b'), item('c')], {
          itemPolicy: { limits: { attemptMs: 1000 } },
          item: ({ id }, { attempt }) => (begun.push(`${id}${attempt}`), id === 'b' && attempt === 2 ? id : never()),
        }),
      ],
      { concurrency: 2 },
    );
    await run();
    await clock.advance(7999);
    // At first those of both items' first attempts are taken, then those of the last two of a.
    expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
    await clock.advance(1);
    expect(begun.at(-1)).toBe('c1');
  });

  it('[W-4] [R-12] that may change something are not tried again after a timeout', async () => {
    let attempts = 0;
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a', [], { effect: 'mutating' }), item('b')], {
        itemPolicy: { limits: { attemptMs: 1000 } },
        item: ({ id }, { signal }) => (id === 'a' ? (attempts++, untilAborted(signal)) : id),
      }),
    ]);
    const running = await run();
    await clock.advance(minutes);
    expect(await running.outcome).toMatchObject({ items: [{ failure: { kind: 'timeout', outcome: 'unknown' } }, {}] });
    expect(attempts).toBe(1);
  });

  it('[W-4] are tried again each, however many others are', async () => {
    const many = Array.from({ length: 100 }, (_, index) => item(`i${index}`));
    const { run, clock } = await startWorkflow(
      [backend('primary', many, { item: ({ id }, { attempt }) => (attempt < 3 ? failing('transient') : id) })],
      { concurrency: 100 },
    );
    const running = await run();
    await clock.advance(3000);
    expect(await running.outcome).toMatchObject({ status: 'succeeded' });
  });

  it.each(['auth', 'quota'] as const)('[W-1] that fail with %s end the run of their backend', async (kind) => {
    const status = { auth: 401, quota: 402 }[kind];
    const { run } = await startWorkflow([
      backend('primary', [item('a'), item('b', ['a'])], {
        item: () =>
          Promise.reject(Object.assign(new Error('insufficient_quota'), { status, code: 'insufficient_quota' })),
      }),
      backend('fallback', [item('a')]),
    ]);
    expect(await (await run()).outcome).toMatchObject({ backend: 'fallback', fallbacks: [{ from: 'primary' }] });
  });

  it('[W-1] end the run of their backend when it says that they are critical, and the others with it', async () => {
    const seen: string[] = [];
    const { run } = await startWorkflow(
      [
        backend('primary', [item('a'), item('b'), item('c')], {
          isCritical: (_failure, { id }) => id === 'b',
          item: ({ id }, { signal }) =>
            id === 'b' ? failing('permanent') : (untilAborted(signal).catch(() => seen.push(id)) as Promise<never>),
        }),
        backend('fallback', [item('a')], {
          plan: () => (seen.push('fallback plans'), { success: true, items: [item('a')] }),
        }),
      ],
      { concurrency: 3 },
    );
    expect(await (await run()).outcome).toMatchObject({ backend: 'fallback' });
    expect(seen.toSorted()).toEqual(['a', 'c', 'fallback plans']);
  });

  it('[W-1] begin no further item once one was critical', async () => {
    const begun: string[] = [];
    const { run } = await startWorkflow(
      [backend('primary', [item('a'), item('b'), item('c')], { item: ({ id }) => (begun.push(id), failing('auth')) })],
      { concurrency: 1 },
    );
    const { items } = await (await run()).outcome;
    expect(begun).toEqual(['a']);
    expect(items).toMatchObject([{ status: 'failed' }, { status: 'skipped', because: [] }, { status: 'skipped' }]);
  });

  it('[W-1] are judged as usual when asking whether they are critical fails', async () => {
    const { run } = await startWorkflow([
      backend('primary', [item('a'), item('b')], {
        isCritical: () => failing('permanent', 'asked badly'),
        item: ({ id }) => (id === 'a' ? failing('permanent') : id),
      }),
    ]);
    expect(await (await run()).outcome).toMatchObject({ status: 'partial' });
  });

  it.each([
    ['mutating', undefined, false],
    [undefined, 'mutating', false],
    ['idempotent', undefined, true],
    [undefined, 'readOnly', true],
    [undefined, undefined, true],
  ] as const)(
    '[W-1] [R-12] that were at work (%s, then %s) when their backend failed are done again: %s',
    async (before, after, isDone) => {
      let done = 0;
      const { run, clock } = await startWorkflow([
        backend('primary', [item('a', [], { effect: before })], { item: (_item, { signal }) => untilAborted(signal) }),
        backend('fallback', [item('a', [], { effect: after }), item('b')], {
          item: ({ id }) => (id === 'a' ? `${++done}` : id),
        }),
      ]);
      const running = await run();
      await clock.advance(5 * minutes);
      const outcome = await running.outcome;
      expect(done).toBe(isDone ? 1 : 0);
      const refused = { status: 'failed', attempts: 0, failure: { outcome: 'unknown' } };
      expect(outcome.items[0]).toMatchObject(isDone ? { status: 'done', backend: 'fallback' } : refused);
    },
  );

  it.each([300_000, 200_000])(
    '[W-1] [R-12] are not begun in the moment in which their backend has had its time, with an idle limit of %i ms',
    async (idleMs) => {
      const begun: string[] = [];
      let touch = (): void => undefined;
      const items = ['a', 'b'].map((id) => item(id, [], { effect: 'mutating' }));
      const primary = backend('primary', items, {
        policy: { limits: { idleMs } },
        item({ id }, context) {
          begun.push(id);
          ({ touch } = context);
          return untilAborted(context.signal);
        },
      });
      const { run, clock } = await startWorkflow([primary, backend('fallback', items.slice(1))], { concurrency: 1 });
      const running = await run();
      // It moves the limit of the backend behind that of the item in the queue of what is over at the same time.
      await clock.advance(150_000);
      touch();
      await clock.advance(150_000);
      expect(begun).toEqual(['a']);
      expect(await running.outcome).toMatchObject({ status: 'succeeded', backend: 'fallback' });
    },
  );

  it('[W-2] have no circuit that their timeouts could open', async () => {
    const { run, clock, told } = await startWorkflow([
      backend('primary', [item('good'), ...['a', 'b', 'c', 'd'].map((id) => item(id, [], { effect: 'mutating' }))], {
        itemPolicy: { limits: { attemptMs: 1000 } },
        item: ({ id }, { signal }) => (id === 'good' ? id : untilAborted(signal)),
      }),
    ]);
    const running = await run();
    await clock.advance(minutes);
    expect(await running.outcome).toMatchObject({ status: 'partial' });
    expect(told('breaker.opened')).toEqual([]);
  });

  it('[W-1] [R-12] of unspecified effect are not done again where the policy of items does not repeat them', async () => {
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a')], { item: never }),
      backend('fallback', [item('a'), item('b', ['a'])], { itemPolicy: { retry: { repeatAfter: 'broken' } } }),
    ]);
    const running = await run();
    await clock.advance(5 * minutes);
    const message =
      'It is not done again: what an earlier backend did of it is not known (Ended with the run of primary)';
    expect(await running.outcome).toMatchObject({
      status: 'failed',
      items: [
        { status: 'failed', failure: { message } },
        { status: 'skipped', because: ['a'] },
      ],
    });
  });

  it('[W-1] [R-12] that timed out may have taken effect; a third backend does not repeat them either', async () => {
    const mutating = [item('a', [], { effect: 'mutating' }), item('b')];
    const { run, clock } = await startWorkflow(
      [
        backend('first', mutating, {
          item: ({ id }) => (id === 'a' ? never() : id),
          summary: () => failing('permanent'),
          itemPolicy: { limits: { attemptMs: 10 } },
        }),
        backend('second', mutating, { summary: () => failing('permanent') }),
        backend('third', mutating),
      ],
      { concurrency: 2 },
    );
    const running = await run();
    await clock.advance(10);
    const outcome = await running.outcome;
    expect(outcome).toMatchObject({
      status: 'partial',
      backend: 'third',
      items: [{ status: 'failed' }, { status: 'done', backend: 'first' }],
    });
  });

  it('[W-1] that were refused by an earlier backend are done by the next', async () => {
    const { run } = await startWorkflow([
      backend('primary', [item('a', [], { effect: 'mutating' })], { item: () => failing('permanent') }),
      backend('fallback', [item('a', [], { effect: 'mutating' })]),
    ]);
    expect(await (await run()).outcome).toMatchObject({ status: 'succeeded', backend: 'fallback' });
  });

  it('[W-5] [W-6] [W-7] are told, each failed attempt and the last one on record', async () => {
    const { run, clock, told, gateway } = await startWorkflow([
      backend('primary', [item('z'), item('a', ['z'], { tools: ['grep'], servers: ['kb'] })], {
        item: ({ id }) => (id === 'a' ? failing('transient', 'down, token=hunter2') : id),
      }),
    ]);
    await run({ session: 's1' });
    await clock.advance(3000);
    expect(told('workflow.primary.planned')).toMatchObject([
      {
        items: [
          { id: 'z', action: 'do z', dependencies: [] },
          { id: 'a', action: 'do a', dependencies: ['z'] },
        ],
      },
    ]);
    const about = {
      workflow: 'deploy',
      run: expect.stringMatching(/^deploy-1-/) as string,
      session: 's1',
      backend: 'primary',
      item: 'a',
      action: 'do a',
    };
    const needs = { tools: ['grep'], servers: ['kb'], dependencies: ['z'], maxAttempts: 3, kind: 'transient' };
    expect(told('workflow.primary.item_error')).toMatchObject(
      [1, 2, 3].map((attempt) => ({
        ...about,
        ...needs,
        attempt,
        final: attempt === 3,
        error: 'down, token=[redacted]',
      })),
    );
    expect(told('workflow.primary.item_error')[0]?.stack).toContain('startWorkflow.ts');
    expect((await gateway.store?.read({ category: 'workflow', limit: 100 }))?.map(({ type }) => type)).toEqual([
      'started',
      'item_error',
      'completed',
    ]);
  });

  it('[W-6] tells the beginning and the end of each backend', async () => {
    const { run, told } = await startWorkflow([
      backend('primary', [item('a')], { plan: () => failing('permanent', 'no') }),
      backend('fallback', [item('a'), item('b')], { item: ({ id }) => (id === 'a' ? failing('permanent') : id) }),
    ]);
    await run({ session: 's1' });
    const about = { workflow: 'deploy', run: expect.stringMatching(/^deploy-1-/) as string, session: 's1' };
    expect(told('workflow.primary.started')).toMatchObject([{ ...about, backend: 'primary' }]);
    expect(told('workflow.primary.failed')).toMatchObject([
      { ...about, error: 'no', fallback: 'fallback', breaker: 'closed', kind: 'permanent' },
    ]);
    expect(told('workflow.fallback.completed')).toMatchObject([
      { ...about, status: 'partial', done: 1, failed: 1, skipped: 0 },
    ]);
  });

  it('[W-6] names no fallback where there is none', async () => {
    const { run, told } = await startWorkflow([backend('primary', [], {})]);
    await run();
    expect(told('workflow.primary.failed')).toMatchObject([{ fallback: undefined }]);
    expect(told('workflow_fallback')).toEqual([]);
  });

  it('[W-4] are told one by one, with how many have ended of how many', async () => {
    const { run, clock } = await startWorkflow([
      backend('primary', [item('a'), item('b', ['a']), item('c', ['b'])], {
        item: ({ id }, { attempt }) =>
          id === 'a' ? (attempt === 1 ? failing('transient', 'once') : id) : failing('permanent', 'never'),
      }),
    ]);
    const running = await run();
    await clock.advance(1000);
    const told = (await eventsOf(running)).flatMap((event) => (event.type === 'workflow_item' ? [event.data] : []));
    expect(told.map(({ id, status, attempt, ended, error }) => [id, status, attempt, ended, error])).toEqual([
      ['a', 'running', 1, 0, undefined],
      ['a', 'retrying', 1, 0, 'once'],
      ['a', 'running', 2, 0, undefined],
      ['a', 'done', 2, 1, undefined],
      ['b', 'running', 1, 1, undefined],
      ['b', 'failed', 1, 2, 'never'],
      ['c', 'skipped', 0, 3, undefined],
    ]);
    expect(
      told.every(({ total, maxAttempts, backend: by }) => total === 3 && maxAttempts === 3 && by === 'primary'),
    ).toBe(true);
  });

  it('[W-4] of a plan of 10,000 in a chain take no time that grows with the square', async () => {
    const chain = Array.from({ length: 10_000 }, (_, index) => item(`i${index}`, index === 0 ? [] : [`i${index - 1}`]));
    const { workflow } = await startWorkflow([backend('primary', chain)]);
    const running = workflow.run('input');
    expect(await running.outcome).toMatchObject({ status: 'succeeded' });
    expect(running.progress).toMatchObject({ ended: 10_000, total: 10_000 });
  });

  it('[W-4] of a plan of 10,000 are skipped at once when the first of a chain fails', async () => {
    const chain = Array.from({ length: 10_000 }, (_, index) => item(`i${index}`, index === 0 ? [] : [`i${index - 1}`]));
    const { workflow } = await startWorkflow([
      backend('primary', [item('good'), ...chain], { item: ({ id }) => (id === 'good' ? id : failing('permanent')) }),
    ]);
    const { items } = await workflow.run('input').outcome;
    expect(items.at(-1)).toMatchObject({ status: 'skipped', because: ['i9998'] });
    expect(items.filter(({ status }) => status === 'skipped')).toHaveLength(9999);
  });
});
