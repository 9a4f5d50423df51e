import { describe, expect, it } from 'vitest';
import { RawClient, startHttp, stateless, textIn } from '../startHttp.ts';

const failing = { name: 'act', arguments: { do: 'fail' } };

describe('repetition of clients over HTTP', () => {
  it('[P-9] is counted by session', async () => {
    const { url, facts } = await startHttp({ server: { spinning: 'hold' } });
    const [one, other] = [new RawClient(url), new RawClient(url)];
    await Promise.all([one.open(), other.open()]);
    const call = async (client: RawClient) =>
      (await (await client.request('tools/call', failing)).messages()).at(-1)?.result?.content?.map(({ text }) => text);
    for (let round = 1; round <= 5; round++)
      for (const client of [one, other]) expect(await call(client)).toEqual(['no']);
    expect(await call(one)).toEqual(['no', expect.stringContaining('act was called 6 times')]);
    for (let round = 7; round <= 20; round++) await call(one);
    expect((await call(one))?.[0]).toContain('Not called again');
    expect(await call(other)).toEqual(['no', expect.stringContaining('act was called 6 times')]);
    const sessions = facts.flatMap((fact) => (fact.type === 'session.spinning' ? [fact.session] : []));
    expect(new Set(sessions).size).toBe(2);
  });

  it('[P-9] is not looked for where clients are not told apart: with one server for all, and without sessions', async () => {
    const shared = await startHttp({ shared: true });
    const client = new RawClient(shared.url);
    await client.open();
    for (let round = 0; round < 8; round++) expect(await client.call({ do: 'fail' })).toBe('no');
    const started = await startHttp({ env: { STYLE: 'modern' } });
    for (let round = 0; round < 8; round++) {
      const answered = await stateless(started.url, 'tools/call', failing);
      expect(textIn((await answered.messages()).at(-1))).toBe('no');
    }
    expect([...shared.facts, ...started.facts].filter(({ type }) => type === 'session.spinning')).toEqual([]);
  });
});
