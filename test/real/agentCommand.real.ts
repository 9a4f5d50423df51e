import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { eventsOf } from '../agents/conversation/startAgent.ts';
import { isAlive } from '../support/temporary.ts';
import { claudePath, hasClaude } from './claudeEnv.ts';
import { callsTool, fails, hangs, says } from './fakeAnthropic.ts';
import { startRealAgent } from './startRealAgent.ts';

const limited = fails(429, 'rate_limit_error', 'slow down');
const loops = callsTool('Bash', { command: 'echo $$ > shell; until false; do sleep 1; done' });
const claude = { command: claudePath };

describe.skipIf(!hasClaude)('an agent over the real claude, without the SDK', () => {
  it('[U-4] [R-6] answers, streams, and asks again once inside an attempt of ours', async () => {
    const { conversation, upstream } = await startRealAgent([limited, says('hello'), says('again')], { claude });
    const turn = conversation.send('say hi');
    const events = eventsOf(turn);
    expect(await turn.outcome).toMatchObject({ ok: true, value: { text: 'hello' } });
    expect(await events).toContainEqual({ type: 'text', text: 'hello' });
    expect(await conversation.send('and again').outcome).toMatchObject({ ok: true, value: { text: 'again' } });
    expect(upstream.requests).toHaveLength(3);
  });

  it('[H-4] asks before it uses a tool, and is told no', async () => {
    const script = [callsTool('Bash', { command: 'echo ran > effect' }), says('well then')];
    const approve = vi.fn<() => object>(() => ({ decision: 'decline', reason: 'not today' }));
    const { conversation, cwd, upstream } = await startRealAgent(script, { approve, claude });
    expect(await conversation.send('do it').outcome).toMatchObject({ ok: true, value: { effects: 'none' } });
    expect(approve).toHaveBeenCalledTimes(1);
    expect(existsSync(join(cwd, 'effect'))).toBe(false);
    expect(JSON.stringify(upstream.requests[1]?.body.messages)).toContain('not today');
  });

  it('[U-4] uses a tool that somebody allowed', async () => {
    const script = [callsTool('Bash', { command: 'echo ran > effect' }), says('done')];
    const { conversation, cwd } = await startRealAgent(script, { approve: () => 'accept', claude });
    expect(await conversation.send('do it').outcome).toMatchObject({ ok: true, value: { effects: 'possible' } });
    expect(readFileSync(join(cwd, 'effect'), 'utf8')).toBe('ran\n');
  });

  it('[U-4] [R-8] interrupted while it waits for its upstream keeps its process and takes the next turn', async () => {
    const { conversation, upstream, gateway } = await startRealAgent([hangs, says('after')], { claude });
    const started = vi.fn<() => void>();
    gateway.on('process.started', started);
    const { outcome } = conversation.send('say hi');
    await upstream.reached(1);
    await conversation.interrupt();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await conversation.send('and now?').outcome).toMatchObject({ ok: true, value: { text: 'after' } });
    expect(started).toHaveBeenCalledTimes(1);
  });

  it('[R-12] [I-3] killed in the middle of a tool goes on in its session, and leaves no shell behind', async () => {
    const args = ['--allowedTools', 'Bash'];
    const { conversation, cwd, gateway } = await startRealAgent([loops, says('went on')], {
      claude: { ...claude, args },
    });
    const started = gateway.wait('process.started');
    const { outcome } = conversation.send('do it');
    const { pid } = await started;
    const file = join(cwd, 'shell');
    await vi.waitUntil(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { timeout: 60_000 });
    process.kill(pid, 'SIGKILL');
    expect(await outcome).toMatchObject({ ok: true, value: { text: 'went on' } });
    await vi.waitUntil(() => !isAlive(Number(readFileSync(file, 'utf8'))), { timeout: 20_000 });
  });
});
