import { describe, expect, it, vi } from 'vitest';
import type { RemoteAuth } from '../../../../src/actors/mcp/http/access.ts';
import { startRemote } from '../startRemote.ts';

const planted = 'planted-4f1d9c7e2b';
const find = { name: 'find', arguments: { text: 'x' } };

/** A source of tokens of which each refused one can be renewed so many times. */
function source(renewals: number): RemoteAuth & { readonly refused: ReturnType<typeof vi.fn> } {
  let serial = 0;
  return {
    token: () => `${planted}-${serial}`,
    refused: vi.fn<() => Promise<boolean>>(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      if (serial >= renewals) return false;
      serial++;
      return true;
    }),
  };
}

describe('the access to a remote server', () => {
  it('[P-4] is by its headers, and by its token', async () => {
    const { server } = await startRemote({}, { headers: { 'x-tenant': 'a' }, auth: { token: () => planted } });
    const sent = server.received.map(({ headers }) => [headers['x-tenant'], headers.authorization]);
    expect(new Set(sent.map(String))).toEqual(new Set([`a,Bearer ${planted}`]));
  });

  it('[P-4] is renewed once for ten calls that were refused the same token, and each is sent again', async () => {
    let current = `${planted}-0`;
    const auth = source(1);
    const { kb, server } = await startRemote({ tools: ['find'], authorize: (token) => token === current }, { auth });
    current = `${planted}-1`;
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => kb.call(find, { effect: 'mutating' })));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(server.ran('find')).toBe(10);
    expect(auth.refused).toHaveBeenCalledOnce();
  });

  it('[P-4] that cannot be renewed is no storm: the calls fail here, until a pause is over', async () => {
    let current: string | undefined = `${planted}-0`;
    const auth = source(0);
    const { kb, server, clock } = await startRemote(
      { tools: ['find'], authorize: (token) => token === current },
      { auth },
    );
    await server.until(() => server.standingStreams === 1);
    current = undefined;
    for (let each = 0; each < 2; each++) {
      const failure = { kind: 'auth', outcome: 'failed', status: 401 };
      expect(await kb.call(find)).toMatchObject({ ok: false, failure });
    }
    const asked = server.requests('tools/call');
    for (let each = 0; each < 20; each++) {
      expect(await kb.call(find)).toMatchObject({ ok: false, failure: { kind: 'auth', outcome: 'not_started' } });
    }
    expect(server.requests('tools/call')).toBe(asked);
    expect(auth.refused).toHaveBeenCalledOnce();
    clock.skip(5001);
    current = `${planted}-0`;
    expect(await kb.call(find)).toMatchObject({ ok: true });
  });

  it.each([0, 100])(
    '[P-4] that one tool is refused, where %i new tokens are to be had, is that of the others all the same',
    async (renewals) => {
      const auth = source(renewals);
      const faults = [{ tool: 'find', do: 'status', status: 401 }] as const;
      const { kb, server } = await startRemote({ tools: ['find', 'echo'], faults }, { auth });
      await server.until(() => server.standingStreams === 1);
      for (let each = 0; each < 3; each++) {
        expect(await kb.call(find)).toMatchObject({ ok: false, failure: { kind: 'auth', status: 401 } });
        expect(await kb.call({ name: 'echo' })).toMatchObject({ ok: true });
      }
    },
  );

  it('[P-4] that was given up while it waited for a token sends nothing', async () => {
    let give: (() => void) | undefined;
    let waits = false;
    const auth: RemoteAuth = {
      token: () => (waits ? new Promise((resolve) => (give = () => resolve(planted))) : planted),
    };
    const { kb, server } = await startRemote({ tools: ['find'] }, { auth });
    waits = true;
    const giveUp = new AbortController();
    const outcome = kb.call(find, { signal: giveUp.signal });
    await expect.poll(() => give).toBeDefined();
    giveUp.abort();
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    waits = false;
    give?.();
    expect(await kb.call({ name: 'echo' })).toMatchObject({ ok: false });
    expect(server.ran('find')).toBe(0);
  });

  it('[O-8] is told nowhere, whatever the server repeats of it', async () => {
    const key = 'planted-key-77aa12bc';
    const body = JSON.stringify({ error: { message: `${planted} ${key} not welcome` } });
    const { kb, facts, gateway, server } = await startRemote(
      { faults: [{ tool: 'find', do: 'status', status: 403, body }], tools: ['other'] },
      { headers: { 'x-api-key': key, cookie: `session=${planted}-cookie` }, auth: { token: () => planted } },
    );
    const outcome = await kb.call(find);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'auth', status: 403 } });
    server.setFaults([{ tool: 'find', do: 'html' }]);
    await kb.call(find);
    await gateway.stop();
    const told = JSON.stringify([outcome, facts, gateway.tree()]);
    expect(told).not.toContain(planted);
    expect(told).not.toContain(key);
  });

  it('[P-4] is to its origin as far as the tree says', async () => {
    const { gateway, server } = await startRemote();
    const child = gateway.tree().children?.find(({ id }) => id === 'mcp:kb');
    expect(child?.details).toEqual({ url: new URL(server.url).origin });
  });

  it.each([
    ['is no address', { url: 'mcp.example' }],
    ['says who asks', { url: 'https://me:pass@mcp.example/mcp' }],
  ])('[P-4] is refused by an address that %s, which is not shown', async (_, options) => {
    const { gateway } = await startRemote({}, {}, false);
    expect(() => gateway.mcpServer('other', options)).toThrow('Expected `other.url` to be an address');
    expect(() => gateway.mcpServer('other', options)).not.toThrow('me:pass');
  });
});
