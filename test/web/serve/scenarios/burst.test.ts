import { describe, expect, it } from 'vitest';
import { fakeMcpServer } from '../../../../testing/fakeMcpServer.ts';
import { deferred } from '../../../support/deferred.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';
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

  it('[E-1] [L-5] refuses at the door what the watchdog of tool calls would end before its turn', async () => {
    const clock = new SkippingClock();
    const answers = names(6).map(() => deferred<string>());
    let begun = 0;
    // No server of a file is a function; its calls are the same, and end when the test says.
    const kb = fakeMcpServer({ tools: { echo: () => answers[begun++]?.promise } });
    const sessions = { watchdog: { toolCallMs: '10s' } } as const;
    const policies = { integrations: { kb: { maxInFlight: 1 } } };
    const { get, post, send } = await startServed({
      clock,
      servers: { kb: kb as never },
      gateway: { policies, sessions },
    });
    const ids = names(6);
    for (const id of ids) await post('/v1/sessions', { id });
    clock.stop();
    const sent: Awaited<ReturnType<typeof send>>[] = [];
    for (const id of ids.slice(0, 4)) sent.push(await send(id, echo, ''));
    const ends = async (index: number): Promise<void> => {
      await expect.poll(() => begun).toBe(index + 1);
      answers[index]?.resolve('done');
      const way = `/v1/sessions/${ids[index]}/messages/${sent[index]?.id}`;
      await expect.poll(() => get<{ state: string }>(way)).toMatchObject({ state: 'done' });
    };
    // One in 4 s, so that the second who waits comes after 8 s, and the third after 12 s.
    await ends(0);
    clock.skip(4000);
    await ends(1);
    expect(await send('s4', echo, '')).toMatchObject({ status: 202 });
    const refused = await send('s5', echo, '');
    expect(refused).toMatchObject({ status: 429, error: expect.stringContaining('a call may take 10s') as unknown });
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
