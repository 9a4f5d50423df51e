import { describe, expect, it } from 'vitest';
import { RawClient, startHttp, stateless, textIn } from '../startHttp.ts';

const hold = { name: 'act', arguments: { do: 'hold' } };

describe('late answers over HTTP', () => {
  it('[R-18] are those of one session: another one makes its own call', async () => {
    const { url, clock, told, facts } = await startHttp({ server: { overallMs: 3000 } });
    const [one, other] = [new RawClient(url), new RawClient(url)];
    await Promise.all([one.open(), other.open()]);
    clock.stop();
    const ask = async (client: RawClient) =>
      textIn((await (await client.request('tools/call', hold)).messages()).at(-1));
    const first = ask(one);
    await expect.poll(() => one.call({ do: 'received' })).toContain('"hold\\');
    clock.skip(3000);
    expect(await first).toContain('make the same call again within 10m');
    await told('call.kept');
    await one.call({ do: 'release' });
    const second = ask(other);
    await expect.poll(() => other.call({ do: 'received' })).toContain('"hold\\');
    expect(facts.filter(({ type }) => type === 'call.joined')).toEqual([]);
    await other.call({ do: 'release' });
    expect(await second).toBe('released it');
    expect(await ask(one)).toContain('released it');
  });

  it.each([
    ['all sessions share a server', { shared: true, server: { overallMs: 3000 } }],
    ['there are no sessions', { env: { STYLE: 'modern' }, server: { overallMs: 3000 } }],
  ])('[R-18] are nobody’s where %s', async (_, setup) => {
    const { url, clock, facts } = await startHttp(setup);
    const client = new RawClient(url);
    if ('shared' in setup) await client.open();
    clock.stop();
    const answered = 'shared' in setup ? client.request('tools/call', hold) : stateless(url, 'tools/call', hold);
    const received = async () =>
      'shared' in setup
        ? await client.call({ do: 'received' })
        : textIn(
            (await (await stateless(url, 'tools/call', { name: 'put', arguments: { do: 'received' } })).messages()).at(
              -1,
            ),
          );
    await expect.poll(received).toContain('"hold\\');
    clock.skip(3000);
    expect(textIn((await (await answered).messages()).at(-1))).not.toContain('make the same call again');
    expect(await received()).toContain('notifications/cancelled');
    expect(facts.filter(({ type }) => type === 'call.kept')).toEqual([]);
  });
});
