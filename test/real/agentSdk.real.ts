import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { eventsOf } from '../agents/conversation/startAgent.ts';
import { isAlive } from '../support/temporary.ts';
import { hasAgentSdk } from './agentSdkEnv.ts';
import { callsTool, fails, hangs, says } from './fakeAnthropic.ts';
import { startRealAgent } from './startRealAgent.ts';

const limited = fails(429, 'rate_limit_error', 'slow down');
const crowded = fails(529, 'overloaded_error', 'Overloaded');
const loops = callsTool('Bash', { command: 'echo $$ > shell; until false; do sleep 1; done' });
const allowed = { claude: { options: { allowedTools: ['Bash'] } } };
const once = { retry: { maxAttempts: 1 } } as const;

/** The process of the tool, once it runs. */
async function shellIn(cwd: string): Promise<number> {
  const file = join(cwd, 'shell');
  await vi.waitUntil(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { timeout: 60_000 });
  return Number(readFileSync(file, 'utf8'));
}

describe.skipIf(!hasAgentSdk)('an agent over the real Agent SDK', () => {
  it('[C-6] [U-4] answers, streams, and goes on in the same process', async () => {
    const { conversation, upstream, gateway } = await startRealAgent([says('hello'), says('again')]);
    const started = vi.fn<() => void>();
    gateway.on('process.started', started);
    const turn = conversation.send('say hi');
    const events = eventsOf(turn);
    expect(await turn.outcome).toMatchObject({ ok: true, value: { text: 'hello', effects: 'none' } });
    expect(await events).toContainEqual({ type: 'text', text: 'hello' });
    expect(await conversation.send('and again').outcome).toMatchObject({ ok: true, value: { text: 'again' } });
    expect(started).toHaveBeenCalledTimes(1);
    expect(upstream.requests).toHaveLength(2);
  });

  it('[R-13] streams its answer, and a reader that leaves ends the tool that it runs', async () => {
    const { conversation, cwd } = await startRealAgent([says('hello'), loops, says('after')], allowed);
    const said: string[] = [];
    for await (const event of conversation.stream('say hi').chunks) if (event.type === 'text') said.push(event.text);
    expect(said.join('')).toBe('hello');
    const { chunks, outcome } = conversation.stream('do it');
    for await (const { type } of chunks) if (type === 'tool.started') break;
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', reason: 'reader_left' } });
    if (existsSync(join(cwd, 'shell'))) {
      const shell = await shellIn(cwd);
      await vi.waitUntil(() => !isAlive(shell), { timeout: 20_000 });
    }
    expect(await conversation.send('and now?').outcome).toMatchObject({ ok: true, value: { text: 'after' } });
  });

  it('[C-6] uses a tool that somebody allowed', async () => {
    const script = [callsTool('Bash', { command: 'echo ran > effect' }), says('done')];
    const { conversation, cwd } = await startRealAgent(script, { approve: () => 'accept' });
    const turn = conversation.send('do it');
    const events = eventsOf(turn);
    expect(await turn.outcome).toMatchObject({ ok: true, value: { text: 'done', effects: 'possible' } });
    expect(readFileSync(join(cwd, 'effect'), 'utf8')).toBe('ran\n');
    expect((await events).map(({ type }) => type)).toEqual([
      'tool.started',
      'approval.requested',
      'approval.resolved',
      'tool.ended',
      'text',
    ]);
  });

  it('[R-6] [C-6] asks again once inside an attempt of ours at 429, and says its prompt once', async () => {
    const { conversation, upstream } = await startRealAgent([limited, limited, says('hello')]);
    expect(await conversation.send('the one prompt').outcome).toMatchObject({ ok: true, value: { text: 'hello' } });
    expect(upstream.requests).toHaveLength(3);
    expect(JSON.stringify(upstream.requests[2]?.body).split('the one prompt')).toHaveLength(2);
  });

  it('[C-6] is overloaded at 529, though its result calls itself a success', async () => {
    const { conversation, upstream } = await startRealAgent([crowded], { policy: { retry: { maxAttempts: 2 } } });
    const failure = { kind: 'overloaded', status: 529, attempts: 2 };
    expect(await conversation.send('say hi').outcome).toMatchObject({ ok: false, failure });
    expect(upstream.requests).toHaveLength(4);
  });

  it('[C-6] [I-3] that says nothing is ended by the idle limit, and its process with it', async () => {
    const { conversation, gateway } = await startRealAgent([hangs], { policy: { ...once, limits: { idleMs: 8000 } } });
    const started = gateway.wait('process.started');
    const exited = gateway.wait('process.exited');
    const outcome = await conversation.send('say hi').outcome;
    expect(outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout', outcome: 'failed' } });
    await exited;
    expect(isAlive((await started).pid)).toBe(false);
  });

  it('[C-6] [R-8] aborted in the middle of a tool ends the tool, keeps its process and takes the next turn', async () => {
    const { conversation, cwd, upstream } = await startRealAgent([loops, says('after')], allowed);
    const controller = new AbortController();
    const { outcome } = conversation.send('do it', { signal: controller.signal });
    const shell = await shellIn(cwd);
    controller.abort(new Error('enough'));
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    await conversation.interrupt();
    await vi.waitUntil(() => !isAlive(shell), { timeout: 20_000 });
    expect(await conversation.send('and now?').outcome).toMatchObject({ ok: true, value: { text: 'after' } });
    expect(upstream.requests).toHaveLength(2);
  });

  it('[C-6] [R-12] [I-3] killed in the middle of a tool goes on in its session, and leaves no shell behind', async () => {
    const { conversation, cwd, gateway, upstream } = await startRealAgent([loops, says('went on')], allowed);
    const started = gateway.wait('process.started');
    const { outcome } = conversation.send('do it');
    const { pid } = await started;
    const shell = await shellIn(cwd);
    process.kill(pid, 'SIGKILL');
    expect(await outcome).toMatchObject({ ok: true, value: { text: 'went on', effects: 'possible' } });
    expect(JSON.stringify(upstream.requests.at(-1)?.body.messages)).toContain('Go on with it');
    await vi.waitUntil(() => !isAlive(shell), { timeout: 20_000 });
  });

  it('[H-4] [C-6] declines what nobody answers in time, and the model is told', async () => {
    const script = [callsTool('Bash', { command: 'echo ran > effect' }), says('well then')];
    const never = (): Promise<never> => new Promise(() => undefined);
    const { conversation, cwd, upstream, gateway } = await startRealAgent(script, {
      approvalMs: 1000,
      claude: { canUseTool: never },
    });
    const declined = gateway.wait('approval.failed');
    expect(await conversation.send('do it').outcome).toMatchObject({ ok: true, value: { effects: 'none' } });
    expect(await declined).toMatchObject({ approval: 'agent:coder', failure: 'timeout' });
    expect(existsSync(join(cwd, 'effect'))).toBe(false);
    expect(JSON.stringify(upstream.requests[1]?.body.messages)).toContain('Nobody answered in time');
  });

  it('[H-4] [I-2] interrupted while somebody is asked takes the next turn', async () => {
    const script = [callsTool('Bash', { command: 'echo ran > effect' }), says('after'), says('after')];
    const never = (): Promise<never> => new Promise(() => undefined);
    const { conversation, cwd, gateway } = await startRealAgent(script, { approve: never });
    const asked = gateway.wait('approval.requested');
    const { outcome } = conversation.send('do it');
    await asked;
    await conversation.interrupt();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await conversation.send('and now?').outcome).toMatchObject({ ok: true, value: { text: 'after' } });
    expect(existsSync(join(cwd, 'effect'))).toBe(false);
  });

  it('[C-6] with a prompt of 1 MB sends it by stdin', async () => {
    const { conversation, upstream } = await startRealAgent([says('read')]);
    const outcome = await conversation.send(`${'word '.repeat(200_000)}END`).outcome;
    expect(outcome).toMatchObject({ ok: true });
    expect(JSON.stringify(upstream.requests[0]?.body)).toContain('word END');
  });

  it('[U-4] resumes by its id, and does not find one that never was', async () => {
    const { agent, conversation } = await startRealAgent([says('hello')]);
    await conversation.send('say hi').outcome;
    const id = conversation.id ?? '';
    await conversation.stop();
    const resumed = await agent.resume(id);
    expect(resumed.ok && (await resumed.value.send('and?').outcome)).toMatchObject({ ok: true, value: { id } });
    const unknown = await agent.resume('00000000-0000-4000-8000-000000000000');
    const outcome = unknown.ok ? await unknown.value.send('and?').outcome : undefined;
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'permanent', attempts: 1 } });
  });
});
