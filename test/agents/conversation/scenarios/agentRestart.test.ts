import { describe, expect, it } from 'vitest';
import { startThread, says } from '../../codex/startCodex.ts';
import { startAgent } from '../startAgent.ts';
import { init } from '../scriptedQuery.ts';

const byOperator = { kind: 'cancelled', reason: 'restarted', outcome: 'unknown', attempts: 1 };

describe('a restart by hand of an agent', () => {
  it('[L-5] [U-4] ends the turn that hangs with an outcome that says who did, and the next turn is answered', async () => {
    const { clock, sdk, converse, registry, of } = await startAgent();
    const conversation = await converse();
    const hung = conversation.send('say hi').outcome;
    await clock.settle();
    sdk.at(0).say(init);
    await clock.settle();
    registry.restart('coder');
    expect(await hung).toMatchObject({ failure: { ...byOperator, message: 'coder was restarted by an operator' } });
    const next = conversation.send('and now?').outcome;
    await clock.advance(20_000);
    sdk.queries.at(-1)?.answer('hello');
    expect(await next).toMatchObject({ ok: true, value: { text: 'hello' } });
    expect(of('breaker.opened')).toEqual([]);
  });

  it('[L-5] [F-7] ends the turn of Codex that hangs, and its app-server', async () => {
    const { gateway, codex, thread, wait, heardOf } = await startThread({
      'turn/start': [[['usual'], says.delta('hm')]],
    });
    const hung = thread.send('hi').outcome;
    await heardOf('turn/start');
    const stopped = wait('codex.app_server.connection.stop');
    gateway.restart('codex');
    expect(await hung).toMatchObject({ failure: { kind: 'cancelled', reason: 'restarted' } });
    expect(await stopped).toMatchObject({ reason: 'normal' });
    expect(codex.breaker.state).toBe('closed');
  });
});
