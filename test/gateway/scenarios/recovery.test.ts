import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { FactOf } from '../../../src/policy/facts/facts.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { startWsGateway } from '../../support/wsGateway.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));

/** An agent on a simulated clock, whose tool is a real WebSocket server that gives these replies. */
async function startAgent(replies: readonly (number | string)[], onMessage?: MessageHandler) {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5 });
  onTestFinished(() => gateway.stop());
  const upstream = await startWsGateway(...replies);
  const results: ToolResult[] = [];
  const order: string[] = [];
  const retries: FactOf<'call.retried'>[] = [];
  gateway.on('call.retried', (fact) => void retries.push(fact));
  gateway.integration('openclaw', {}, upstream.request);
  gateway.integration('notes', {}, () => 'noted');
  const session = gateway.session('agent:main', {
    onMessage:
      onMessage ??
      (async ({ kind }, turn) => {
        order.push(kind);
        if (kind !== 'heartbeat') results.push(await turn.tool('openclaw', 'sessions_send', { kind }));
        order.push(`${kind} done`);
      }),
  });
  await gateway.start();
  /** Lets I/O and what follows from it happen until the promise is settled; time stands still. */
  const until = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    const note = (): void => {
      settled = true;
    };
    promise.then(note, note);
    while (!settled) await clock.settle();
    return promise;
  };
  const process = async (kind: string) => {
    const acceptance = await until(session.send({ kind }));
    if (!acceptance.accepted) throw new Error(`refused: ${acceptance.reason}`);
    return acceptance.processed;
  };
  let retried = 0;
  /** Waits for the next retry to be planned, then for its time to come: not before. */
  const retry = async (): Promise<number> => {
    while (retries.length === retried) await clock.settle();
    const delayMs = retries[retried++]?.delayMs ?? 0;
    await clock.advance(delayMs - 1);
    expect(upstream.asked).toHaveLength(retried);
    await clock.advance(1);
    return delayMs;
  };
  return { clock, gateway, session, upstream, results, order, until, process, retry };
}

describe('a tool call over a gateway that is not always there', () => {
  it('[G-1] is tried again when the gateway restarts (1012), and succeeds', async () => {
    const { process, retry, until, results, upstream } = await startAgent([1012]);
    const processed = process('user');
    expect(await retry()).toBe(100);
    expect(await until(processed)).toMatchObject({ ok: true });
    expect(results).toEqual([{ status: 'ok', value: 'found', retries: 1 }]);
    expect(upstream.asked).toEqual(['sessions_send', 'sessions_send']);
  });

  it('[G-2] fails at once with a permanent error', async () => {
    const error = 'No session found with label: main';
    const { process, until, results, upstream } = await startAgent([error]);
    await until(process('user'));
    expect(results).toEqual([{ status: 'error', error, retries: 0, recoverable: false }]);
    expect(upstream.asked).toHaveLength(1);
  });

  it('[G-3] [I-2] fails after three transient failures, 100 and 500 ms apart; its history says so and the session continues', async () => {
    const { process, retry, until, results, session, upstream } = await startAgent([1012, 1012, 1012]);
    const processed = process('user');
    expect([await retry(), await retry()]).toEqual([100, 500]);
    await until(processed);
    const error = 'gateway closed (1012): service restart';
    const failed = { status: 'error', error, retries: 2, recoverable: false, retryable: true };
    expect(results).toEqual([failed]);
    expect(upstream.asked).toHaveLength(3);
    expect(session.history.at(-1)).toMatchObject({ type: 'tool_result', result: failed });
    await until(process('user'));
    expect(results[1]).toMatchObject({ status: 'ok', value: 'found' });
  });

  it('[G-4] lets a heartbeat that arrives meanwhile be processed after it', async () => {
    const { process, retry, until, order, session } = await startAgent([1012]);
    const processed = process('user');
    await until(session.send({ kind: 'system' }));
    const beat = await until(session.heartbeat());
    await retry();
    await until(processed);
    expect(beat.accepted && (await until(beat.processed))).toMatchObject({ ok: true });
    expect(order).toEqual(['user', 'user done', 'system', 'system done', 'heartbeat', 'heartbeat done']);
  });

  it('[G-5] tells the agent of its error, who calls another tool and asks for the operator', async () => {
    const { process, until, gateway } = await startAgent(['permission denied: 403'], async (_message, turn) => {
      const first = await turn.tool('openclaw', 'sessions_send');
      if (first.status === 'ok') return first;
      turn.escalate(first.error);
      return turn.tool('notes', 'write', { why: first.error });
    });
    const escalated = gateway.wait('session.escalated');
    const outcome = await until(process('user'));
    expect(outcome).toEqual({ ok: true, value: { status: 'ok', value: 'noted', retries: 0 } });
    expect(await escalated).toMatchObject({ session: 'agent:main', reason: 'permission denied: 403' });
  });
});

describe('the tree of a gateway', () => {
  it('[V-9] has the process of a hook as a temporary child', async () => {
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    gateway.hook('PreToolUse', { command: process.execPath, args: [fixture('silent.mjs')] }, { name: 'guard' });
    await gateway.start();
    const started = gateway.wait('process.started');
    void gateway.runHooks({ event: 'PreToolUse' });
    await started;
    const restarts = Object.fromEntries((gateway.tree().children ?? []).map(({ id, restart }) => [id, restart]));
    expect(restarts).toEqual({ 'integration:hook:guard': 'permanent', 'hook:guard:1': 'temporary' });
  });
});
