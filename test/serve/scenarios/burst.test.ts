import { describe, expect, it } from 'vitest';
import { faultyServer } from '../../support/faultyServer.ts';
import { startServed } from '../startServed.ts';

const echo = { tool: { server: 'kb', name: 'echo', arguments: { word: 'hello' } } };
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `s${index}`);

describe('a burst of sessions on a gateway that is served', () => {
  it('[E-1] [M-9] has a place for each within its deadline: none that was accepted fails for want of one', async () => {
    const policies = { integrations: { kb: { maxInFlight: 3 } } };
    const { post, send } = await startServed({ servers: { kb: faultyServer() }, gateway: { policies } });
    const sessions = names(60);
    await Promise.all(sessions.map((id) => post('/v1/sessions', { id })));
    const ended = await Promise.all(sessions.map((id) => send(id, echo)));
    expect(
      ended.filter(({ status, state, result }) => status !== 200 || state !== 'done' || result?.status !== 'ok'),
    ).toEqual([]);
  });

  it('[E-1] refuses at the door what may not wait, with the time to come again', async () => {
    const kb = faultyServer({ faults: [{ tool: 'echo', do: 'hang' }] });
    const policies = { integrations: { kb: { maxInFlight: 2, queueLength: 1 } } };
    const { get, post, send } = await startServed({ servers: { kb }, gateway: { policies } });
    const sessions = names(5);
    for (const id of sessions) await post('/v1/sessions', { id });
    const answers = [];
    for (const id of sessions) answers.push(await send(id, echo, ''));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429]);
    expect(answers[4]?.error).toBe('kb is busy, and as many sessions wait for it as may.');
    expect(answers[4]?.headers.get('retry-after')).toBe('1');
    // Nothing of it was accepted.
    expect(await get('/v1/sessions/s4/history')).toEqual({ history: [] });
  });
});
