import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { CodexTurnEvent } from '../../agents/codex/index.ts';
import { isAlive } from '../support/temporary.ts';
import { hasCodex } from './codexEnv.ts';
import { breaksAfter, neverAnswers, refuses, responds, runs } from './fakeOpenai.ts';
import { commandLine, processesIn, startRealCodex } from './startRealCodex.ts';

describe.skipIf(!hasCodex)('the real codex app-server', () => {
  it('[F-4] [F-20] answers a turn, piece by piece', async () => {
    const { codex, open, upstream } = await startRealCodex([responds('hello to you')]);
    const thread = await open();
    const turn = thread.send('say hello');
    const events: CodexTurnEvent[] = [];
    for await (const event of turn) events.push(event);
    expect(await turn.outcome).toMatchObject({
      ok: true,
      value: { thread: thread.id, text: 'hello to you', effects: 'none', tokens: { total: 15 } },
    });
    expect(events.flatMap((event) => (event.type === 'text.delta' ? [event.text] : []))).toEqual([
      'hello ',
      'to ',
      'you',
    ]);
    expect(upstream.requests).toHaveLength(1);
    expect(await codex.health()).toMatchObject({ status: 'healthy' });
    expect(await codex.listThreads({ limit: 1 })).toMatchObject({ ok: true, value: { threads: [{ id: thread.id }] } });
  });

  it('[R-6] [F-20] whose stream breaks asks again by itself, and says what it said once', async () => {
    const { open, upstream } = await startRealCodex([breaksAfter('hello to you'), responds('hello to you')]);
    const turn = (await open()).send('say hello');
    const events: CodexTurnEvent[] = [];
    for await (const event of turn) events.push(event);
    expect(await turn.outcome).toMatchObject({ ok: true, value: { text: 'hello to you', retries: 1 } });
    expect(events.flatMap((event) => (event.type === 'text.delta' ? [event.text] : [])).join('')).toBe('hello to you');
    const messages = events.filter((event) => event.type === 'item.completed' && event.item.type === 'agentMessage');
    expect(messages).toHaveLength(1);
    expect(upstream.requests).toHaveLength(2);
  });

  it('[H-4] runs a command that is approved, under the request id 0', async () => {
    const { open, upstream, cwd, facts } = await startRealCodex([runs('echo yes > effect'), responds('done')], {
      approve: ({ kind, action }) => (kind === 'command' && action.includes('effect') ? 'accept' : 'decline'),
    });
    expect(await (await open()).send('do it').outcome).toMatchObject({
      ok: true,
      value: { text: 'done', effects: 'possible' },
    });
    expect(existsSync(join(cwd, 'effect'))).toBe(true);
    expect(facts).toContainEqual(
      expect.objectContaining({ type: 'codex.app_server.approval.completed', request: 0, decision: 'accept' }),
    );
    expect(upstream.requests).toHaveLength(2);
  });

  it('[H-4] does not run a command that is declined, and tells the model', async () => {
    const { open, upstream, cwd } = await startRealCodex([runs('echo yes > effect'), responds('understood')], {
      approve: () => 'decline',
    });
    expect(await (await open()).send('do it').outcome).toMatchObject({
      ok: true,
      value: { text: 'understood', effects: 'none' },
    });
    expect(existsSync(join(cwd, 'effect'))).toBe(false);
    expect(upstream.requests[1]).toContain('rejected by user');
  });

  it('[F-13] does not run a command that nobody approves in time; its turn goes on', async () => {
    const { open, cwd, facts } = await startRealCodex([runs('echo yes > effect'), responds('understood')], {
      approve: () => new Promise(() => undefined),
      approvalMs: 500,
    });
    expect(await (await open()).send('do it').outcome).toMatchObject({ ok: true, value: { text: 'understood' } });
    expect(existsSync(join(cwd, 'effect'))).toBe(false);
    expect(facts).toContainEqual(expect.objectContaining({ type: 'codex.app_server.approval.timeout', request: 0 }));
  });

  it('[F-13] whose question ends the turn is interrupted', async () => {
    const { open } = await startRealCodex([runs('echo yes')], {
      approve: () => ({ decision: 'decline', interrupt: true }),
    });
    expect(await (await open()).send('do it').outcome).toMatchObject({ failure: { kind: 'cancelled' } });
  });

  it('[R-5] that meets 429 fails at once, by its word', async () => {
    const { open, upstream } = await startRealCodex([refuses(429, 'slow down')]);
    expect(await (await open()).send('hi').outcome).toMatchObject({
      failure: { kind: 'rate_limit', status: 429, attempts: 1 },
    });
    expect(upstream.requests).toHaveLength(1);
  });

  it('[R-5] [R-6] that meets 503 makes as many requests as it was allowed', async () => {
    const { open, upstream } = await startRealCodex([refuses(503, 'down')]);
    expect(await (await open()).send('hi').outcome).toMatchObject({
      failure: { kind: 'transient', status: 503, attempts: 1 },
    });
    expect(upstream.requests).toHaveLength(2);
  });

  it('[I-1] [I-2] whose upstream hangs is interrupted at our limit; the thread goes on', async () => {
    const { open, upstream, pid } = await startRealCodex([neverAnswers, responds('back')]);
    const thread = await open();
    const before = pid();
    expect(await thread.send('hi', { idleMs: 6000 }).outcome).toMatchObject({
      failure: { kind: 'timeout', reason: 'idle_timeout', outcome: 'failed' },
    });
    await upstream.reached(1);
    expect(await thread.send('again').outcome).toMatchObject({ ok: true, value: { text: 'back' } });
    expect(pid()).toBe(before);
  });

  it('[I-1] whose upstream refuses connections, for which it waits for ever, is ended at our limit with the reason', async () => {
    const { open } = await startRealCodex([], { baseUrl: 'http://127.0.0.1:9/v1' });
    const outcome = await (await open()).send('hi', { idleMs: 10_000 }).outcome;
    expect(outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect(!outcome.ok && outcome.failure.message).toContain('Reconnecting');
  });

  it('[F-2] [F-25] killed in a turn is started again by who resumes the thread, and hears the input once', async () => {
    const { codex, open, upstream, pid } = await startRealCodex([responds('first'), neverAnswers, responds('back')]);
    const thread = await open();
    expect(await thread.send('one').outcome).toMatchObject({ ok: true });
    const turn = thread.send('the only input');
    await upstream.reached(2);
    const killed = pid();
    process.kill(killed, 'SIGKILL');
    expect(await turn.outcome).toMatchObject({
      failure: { kind: 'crash', reason: 'connection_lost', outcome: 'unknown' },
    });
    expect(codex.state).toBe('crashed');
    expect(await thread.send('more').outcome).toMatchObject({ failure: { outcome: 'not_started' } });

    const resumed = await codex.resumeThread(thread.id);
    if (!resumed.ok) throw new Error(resumed.failure.message);
    expect(pid()).not.toBe(killed);
    expect(resumed.value.turns.map(({ status }) => status)).toEqual(['completed', 'interrupted']);
    expect(resumed.value.brokenTurn).toBe(turn.id);
    expect(upstream.requests).toHaveLength(2);
    expect(await resumed.value.send('go on').outcome).toMatchObject({ ok: true, value: { text: 'back' } });
    expect(upstream.requests.at(-1)?.split('the only input')).toHaveLength(2);
    expect(isAlive(killed)).toBe(false);
  });

  it('[F-25] [M-6] frozen is replaced while a thread of it is resumed', async () => {
    const { codex, open, facts, pid } = await startRealCodex([responds('first'), responds('back')]);
    const thread = await open();
    expect(await thread.send('one').outcome).toMatchObject({ ok: true });
    const frozen = pid();
    process.kill(frozen, 'SIGSTOP');
    const resumed = await codex.resumeThread(thread.id);
    if (!resumed.ok) throw new Error(resumed.failure.message);
    expect(pid()).not.toBe(frozen);
    expect(facts).toContainEqual(
      expect.objectContaining({ type: 'codex.app_server.connection.error', reason: 'hang' }),
    );
    expect(await resumed.value.send('go on').outcome).toMatchObject({ ok: true, value: { text: 'back' } });
  });

  it('[I-3] killed while a command of it runs leaves nothing of that behind', async () => {
    const { open, cwd, pid } = await startRealCodex([runs('echo $$ > shell; setsid sleep 1000 & sleep 1000')], {
      approve: () => 'accept',
    });
    const thread = await open({ sandbox: 'danger-full-access' });
    const turn = thread.send('do it');
    await vi.waitUntil(() => existsSync(join(cwd, 'shell')), { timeout: 60_000 });
    process.kill(pid(), 'SIGKILL');
    expect(await turn.outcome).toMatchObject({ failure: { reason: 'connection_lost' } });
    await vi.waitUntil(() => processesIn(cwd).length === 0, { timeout: 20_000 });
  });

  it.each(['danger-full-access', 'workspace-write'] as const)(
    '[F-28] ends with a turn that is given up the commands that it began, and no server of an earlier one (%s)',
    async (sandbox) => {
      const script = [
        runs('echo $$ > server; exec sleep 1001', 300),
        responds('it runs'),
        runs(`echo $$ > mine; setsid sleep 1002 & nohup sleep 1003 & trap '' TERM; sleep 1004; sleep 1005`),
        responds('next'),
      ];
      const { open, cwd, facts } = await startRealCodex(script, { approve: () => 'accept' });
      const words = () => processesIn(cwd).flatMap((pid) => /sleep\0(\d+)/.exec(commandLine(pid))?.[1] ?? []);
      const running = () => [...new Set(words())].sort();
      const thread = await open({ sandbox });
      expect(await thread.send('serve').outcome).toMatchObject({ ok: true });
      expect(running()).toEqual(['1001']);
      const turn = thread.send('work');
      await vi.waitUntil(() => running().length === 4, { timeout: 60_000 });
      await turn.interrupt();
      expect(running()).toEqual(['1001']);
      expect(facts).toContainEqual(
        expect.objectContaining({
          type: 'codex.app_server.turn.commands_ended',
          ended: [expect.stringContaining('sleep 1004')],
          left: [],
        }),
      );
      expect(await thread.send('and on').outcome).toMatchObject({ ok: true });
      expect(running()).toEqual(['1001']);
    },
  );

  it('[F-28] ends those that it began alone also where it says itself what runs, of a turn whose limit passed', async () => {
    const script = [runs('exec sleep 1001', 300), responds('it runs'), runs('exec sleep 1002')];
    const { open, cwd } = await startRealCodex(script, { approve: () => 'accept', experimentalApi: true });
    const running = () => processesIn(cwd).flatMap((pid) => /^sleep\0(\d+)/.exec(commandLine(pid))?.[1] ?? []);
    const thread = await open({ sandbox: 'danger-full-access' });
    expect(await thread.send('serve').outcome).toMatchObject({ ok: true });
    const turn = thread.send('work', { idleMs: 5000 });
    await vi.waitUntil(() => running().includes('1002'), { timeout: 60_000 });
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'timeout' } });
    await vi.waitUntil(() => !running().includes('1002'), { timeout: 60_000 });
    expect(running()).toEqual(['1001']);
  });

  it('[F-6] is not initialized twice, [F-8] and its own refusals are told as they are', async () => {
    const { codex } = await startRealCodex([responds('x')]);
    expect(await codex.connect()).toMatchObject({ ok: true });
    expect(await codex.request('initialize', {})).toMatchObject({
      failure: { message: 'Already initialized', outcome: 'not_started' },
    });
    expect(await codex.request('no/such/method')).toMatchObject({
      failure: { kind: 'permanent', code: -32_600, cause: { code: -32_600 } },
    });
    expect(await codex.resumeThread('01a1fecf-ea7f-7ec0-910b-52995dda9bae')).toMatchObject({
      failure: { kind: 'permanent', reason: 'not_found' },
    });
  });

  it('[F-21] takes no second turn while one is under way, [R-8] and lets go of one that is interrupted', async () => {
    const { open, upstream } = await startRealCodex([neverAnswers, responds('next')]);
    const thread = await open();
    const turn = thread.send('one');
    await upstream.reached(1);
    expect(await thread.send('two').outcome).toMatchObject({
      failure: { kind: 'too_many_requests', reason: 'scope_busy' },
    });
    await turn.interrupt();
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await thread.send('three').outcome).toMatchObject({ ok: true, value: { text: 'next' } });
    expect(upstream.requests.at(-1)).not.toContain('"two"');
  });

  it('[F-8] takes an input of 1 MB, and says so when it is longer', async () => {
    const { open, upstream } = await startRealCodex([responds('read')]);
    const thread = await open();
    expect(await thread.send('x'.repeat(1024 * 1024)).outcome).toMatchObject({ ok: true });
    expect(upstream.requests[0]?.length).toBeGreaterThan(1024 * 1024);
    expect(await thread.send('x'.repeat(1024 * 1024 + 1)).outcome).toMatchObject({
      failure: { kind: 'permanent', code: -32_602, cause: { data: { input_error_code: 'input_too_large' } } },
    });
  });

  it('[F-3] [I-3] ends in good order with its gateway', async () => {
    const { gateway, codex, open, facts, pid } = await startRealCodex([responds('x')]);
    await (await open()).send('hi').outcome;
    const last = pid();
    await gateway.stop();
    expect(facts).toContainEqual(expect.objectContaining({ type: 'process.exited', pid: last, exitCode: 0 }));
    expect(codex.state).toBe('closed');
    expect(isAlive(last)).toBe(false);
  });
});

describe.skipIf(!hasCodex)('a steered turn of the real codex', () => {
  it('hears what is said to it while it runs', async () => {
    const { open, upstream } = await startRealCodex([runs('sleep 2'), responds('done')], { approve: () => 'accept' });
    const turn = (await open({ sandbox: 'danger-full-access' })).send('first');
    await upstream.reached(1);
    expect(await turn.steer('and hurry')).toMatchObject({ ok: true });
    expect(await turn.outcome).toMatchObject({ ok: true });
    expect(upstream.requests.at(-1)).toContain('and hurry');
  });
});
