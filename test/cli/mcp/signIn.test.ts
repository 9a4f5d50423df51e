import { describe, expect, it } from 'vitest';
import { browse, request, startGuarded } from '../../actors/mcp/http/auth/signedIn.ts';

describe('a sign-in', () => {
  it('[P-4] registers, has the browser come back, and keeps the tokens', async () => {
    const { signIn, giver, server, keeper, file } = await startGuarded();
    const shown: string[] = [];
    const end = await signIn({
      show: (address) => {
        shown.push(address);
        browse(address);
      },
    });
    expect(end).toMatchObject({ ok: true, issuer: giver.url, renews: true });
    const asked = new URL(shown[0] ?? '').searchParams;
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('resource')).toBe(server.url);
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(asked.get('state')?.length).toBeGreaterThan(40);
    expect(await request(server.url, keeper())).toBe(200);
    expect(file.read().issuer?.metadata.issuer).toBe(giver.url);
  });

  it('[P-4] takes a client that was registered beforehand, a port and a scope', async () => {
    const { signIn, giver } = await startGuarded();
    const shown: string[] = [];
    const show = (address: string): void => {
      shown.push(address);
      browse(address);
    };
    expect(await signIn({ client: { client_id: 'known' }, scope: 'tools', show })).toMatchObject({ ok: true });
    const asked = new URL(shown[0] ?? '').searchParams;
    expect([asked.get('client_id'), asked.get('scope')]).toEqual(['known', 'tools offline_access']);
    expect(giver.paths).not.toContain('/register');
  });

  it('[P-4] [Q-6] turns a wrong state away and goes on waiting', async () => {
    const { signIn } = await startGuarded();
    const statuses: number[] = [];
    const end = await signIn({
      show: (address) => {
        const callback = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
        callback.search = 'code=stolen&state=guessed';
        void fetch(callback).then((answer) => {
          statuses.push(answer.status);
          browse(address);
        });
      },
    });
    expect(end).toMatchObject({ ok: true });
    expect(statuses).toEqual([400]);
  });

  it('[P-4] says that the person, or the server, refused', async () => {
    const { signIn, file } = await startGuarded();
    const end = await signIn({
      show: (address) => {
        const { searchParams } = new URL(address);
        const callback = new URL(searchParams.get('redirect_uri') ?? '');
        callback.search = `error=access_denied%1b[31m&state=${searchParams.get('state') ?? ''}`;
        browse(callback.href);
      },
    });
    expect(end).toEqual({ ok: false, message: 'The sign-in was refused: access_denied  31m' });
    expect(file.read().tokens).toBeUndefined();
  });

  it.each([
    [{ code_challenge_methods_supported: undefined }, /does not offer PKCE with S256/],
    [{ code_challenge_methods_supported: ['plain'] }, /does not offer PKCE with S256/],
    [{ registration_endpoint: undefined }, /registers no clients: give the ID of one/],
    [{ authorization_endpoint: 'javascript:alert(1)' }, /gave no valid answer/],
    [{ authorization_endpoint: 'ftp://127.0.0.1/a' }, /none for a browser|gave no valid answer/],
    [{ issuer: 'https://elsewhere.example' }, /in the name of another/],
    [{ token_endpoint: 'http://elsewhere.example/token' }, /not asked by https/],
  ])('[P-4] is refused with metadata %j', async (metadata, message) => {
    const { signIn, file, giver } = await startGuarded({ metadata });
    const end = await signIn();
    expect(end).toMatchObject({ ok: false, message: expect.stringMatching(message) as string });
    expect(file.read().tokens).toBeUndefined();
    expect(giver.tokenRequests).toEqual([]);
  });

  it('[P-4] is refused when another issuer sent the browser back', async () => {
    const { signIn, giver } = await startGuarded({ iss: 'https://elsewhere.example' });
    expect(await signIn()).toEqual({ ok: false, message: 'The authorization server answered in the name of another' });
    expect(giver.tokenRequests).toEqual([]);
  });

  it('[P-4] [I-3] ends when nobody comes, or it is stopped, and leaves no port open', async () => {
    const { signIn, clock } = await startGuarded();
    const ports: string[] = [];
    const wait = (act: () => void) =>
      signIn({
        show: (address) => {
          ports.push(new URL(address).searchParams.get('redirect_uri') ?? '');
          act();
        },
      });
    expect(await wait(() => clock.skip(60_000))).toEqual({ ok: false, message: 'Nobody signed in within 1m' });
    const stopped = new AbortController();
    const end = signIn({ signal: stopped.signal, show: () => stopped.abort() });
    expect(await end).toEqual({ ok: false, message: 'The sign-in was stopped' });
    await expect(fetch(ports[0] ?? '')).rejects.toThrow('fetch failed');
  });

  it('[P-4] says what is wrong with a server that cannot be reached, or that wants none', async () => {
    const { signIn, server } = await startGuarded();
    await server.stop();
    expect(await signIn()).toMatchObject({
      ok: false,
      message: expect.stringContaining('cannot be reached') as string,
    });
  });

  it('[P-4] takes the place of the sign-in before', async () => {
    const { signIn, file, giver } = await startGuarded();
    await signIn();
    const first = file.read();
    await signIn();
    expect(file.read().tokens?.access).not.toBe(first.tokens?.access);
    expect(giver.paths.filter((path) => path === '/register')).toHaveLength(2);
  });
});
