import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { factsOf, request, startGuarded } from './signedIn.ts';

const { signal } = new AbortController();
const minute = 60_000;

async function startSignedIn(options: Parameters<typeof startGuarded>[0] = {}) {
  const world = await startGuarded(options);
  expect(await world.signIn()).toMatchObject({ ok: true });
  world.giver.tokenRequests.length = 0;
  return world;
}

describe('the tokens of a signed-in server', () => {
  it('[P-4] are sent, and kept for their owner alone', async () => {
    const { server, keeper, directory, giver } = await startSignedIn();
    expect(await request(server.url, keeper())).toBe(200);
    expect(giver.tokenRequests).toEqual([]);
    const [file = ''] = readdirSync(directory);
    expect(readdirSync(directory)).toHaveLength(1);
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  });

  it('[P-4] are asked for once by ten calls at once, where refresh tokens change with each use', async () => {
    const { server, keeper, giver } = await startSignedIn();
    giver.expireAll();
    giver.faults.push('hold');
    const one = keeper();
    const calls = Promise.all(Array.from({ length: 10 }, () => request(server.url, one)));
    await giver.until(() => giver.tokenRequests.length === 1);
    giver.release();
    expect(await calls).toEqual(Array.from({ length: 10 }, () => 200));
    expect(giver.tokenRequests).toHaveLength(1);
    expect(giver.tokenRequests[0]?.get('resource')).toBe(server.url);
  });

  it('[P-4] are asked for once by two runtimes that share the file', async () => {
    const { server, keeper, giver } = await startSignedIn();
    giver.expireAll();
    giver.faults.push('hold');
    const calls = Promise.all([request(server.url, keeper()), request(server.url, keeper())]);
    await giver.until(() => giver.tokenRequests.length === 1);
    giver.release();
    expect(await calls).toEqual([200, 200]);
    expect(giver.tokenRequests).toHaveLength(1);
  });

  it('[P-4] are renewed before they end, while the old one still serves', async () => {
    const { keeper, giver, clock, file } = await startSignedIn();
    const one = keeper();
    const first = await one.token(signal);
    clock.skip(58 * minute);
    expect(await one.token(signal)).toBe(first);
    expect(giver.tokenRequests).toHaveLength(0);
    clock.skip(minute);
    giver.faults.push('hold');
    expect(await one.token(signal)).toBe(first);
    await giver.until(() => giver.tokenRequests.length === 1);
    expect(await one.token(signal)).toBe(first);
    giver.release();
    await expect.poll(() => file.read().tokens?.access).not.toBe(first);
    expect(giver.tokenRequests).toHaveLength(1);
  });

  it('[P-4] are waited for when the old one has ended', async () => {
    const { keeper, giver, clock, server } = await startSignedIn();
    giver.expireAll();
    clock.skip(61 * minute);
    expect(await request(server.url, keeper())).toBe(200);
    expect(giver.tokenRequests).toHaveLength(1);
    expect(server.requests('initialize')).toBe(1);
  });

  it('[P-4] [O-8] are told to who keeps them out of messages', async () => {
    const { keeper, learned, file } = await startSignedIn();
    await keeper().token(signal);
    const { access = '', refresh = '' } = file.read().tokens ?? {};
    expect(learned).toEqual([access, refresh]);
  });

  it.each(['html_503', 'oauth_503', 'reset'] as const)(
    '[P-4] survive trouble of the authorization server: %s',
    async (fault) => {
      const { server, keeper, giver, file, clock } = await startSignedIn();
      giver.expireAll();
      giver.faults.push(fault);
      const before = file.read().tokens;
      const one = keeper();
      const facts = await factsOf(request(server.url, one));
      expect(facts).toMatchObject({ outcome: 'not_started' });
      expect((facts as { kind: string }).kind).toMatch(/overloaded|transient/);
      expect(JSON.stringify(facts)).not.toContain(before?.refresh);
      expect(file.read().tokens).toEqual(before);
      clock.skip(minute);
      expect(await request(server.url, one)).toBe(200);
    },
  );

  it('[P-4] [I-1] do not hold a call up for longer than it waits, and a request under way is let end', async () => {
    const { keeper, giver, clock, file } = await startSignedIn();
    clock.skip(61 * minute);
    giver.faults.push('hold');
    const call = new AbortController();
    const one = keeper();
    const token = factsOf(one.token(call.signal));
    await giver.until(() => giver.tokenRequests.length === 1);
    call.abort('too late');
    expect(await token).toBe('too late');
    const old = file.read().tokens?.access;
    giver.release();
    await expect.poll(() => file.read().tokens?.access).not.toBe(old);
  });

  it('[P-4] [I-1] are waited for no longer than 15 s', async () => {
    const { keeper, giver, clock } = await startSignedIn();
    clock.skip(61 * minute);
    giver.faults.push('no_headers');
    const token = factsOf(keeper().token(signal));
    await giver.until(() => giver.tokenRequests.length === 1);
    clock.skip(15_000);
    expect(await token).toMatchObject({
      kind: 'timeout',
      message: 'The authorization server did not answer within 15s',
    });
  });

  it('[P-4] are given up only where the authorization server says that the sign-in has ended', async () => {
    const { server, keeper, giver, file } = await startSignedIn();
    giver.revokeAll();
    const one = keeper();
    expect(await factsOf(request(server.url, one))).toMatchObject({
      kind: 'auth',
      message: `The server refused the token: sign in with: unwedge mcp --url ${server.url} --sign-in`,
    });
    expect(file.read().tokens?.refresh).toBeUndefined();
    expect(file.read().issuer).toBeDefined();
    for (let more = 0; more < 5; more++) await factsOf(request(server.url, one));
    expect(giver.tokenRequests).toHaveLength(1);
  });

  it('[P-4] are kept when another client is refused: the registration has ended, not the sign-in', async () => {
    const { server, keeper, giver, file } = await startSignedIn();
    giver.expireAll();
    giver.faults.push('invalid_client');
    const before = file.read().tokens;
    expect(await factsOf(request(server.url, keeper()))).toMatchObject({
      kind: 'auth',
      message: expect.stringContaining('(invalid_client): sign in with') as string,
    });
    expect(file.read().tokens).toEqual(before);
  });

  it('[P-4] are taken from who got them meanwhile, and a late refusal costs nothing', async () => {
    const { server, keeper, giver } = await startSignedIn();
    const one = keeper();
    const old = (await one.token(signal)) ?? '';
    giver.expireAll();
    expect(await request(server.url, keeper())).toBe(200);
    expect(await one.refused(old, { status: 401 }, signal)).toBe(true);
    expect(giver.tokenRequests).toHaveLength(1);
    expect(await request(server.url, one)).toBe(200);
  });

  it('[P-4] say which scope is missing', async () => {
    const { keeper } = await startSignedIn();
    const refusal = {
      status: 403,
      wwwAuthenticate: 'Bearer error="insufficient_scope", scope="files:write", resource_metadata="http://x"',
    };
    expect(await factsOf(keeper().refused('any', refusal, signal))).toMatchObject({
      kind: 'auth',
      message: expect.stringMatching(
        /the scope "files:write": sign in with: .* --sign-in --scope "files:write"$/,
      ) as string,
    });
  });

  it('[P-4] ask for no sign-in within a call, and say how to do it', async () => {
    const { server, keeper, giver } = await startGuarded();
    expect(await factsOf(keeper().token(signal))).toMatchObject({
      kind: 'auth',
      outcome: 'not_started',
      message: `Not signed in: sign in with: unwedge mcp --url ${server.url} --sign-in`,
    });
    expect(await keeper({}, true).token(signal)).toBeUndefined();
    expect(giver.paths).toEqual([]);
  });

  it('[P-4] may be those that people have, where nobody said how they are had', async () => {
    const { server, keeper } = await startGuarded();
    const signIn = `Not signed in: sign in with: unwedge mcp --url ${server.url} --sign-in`;
    const refused = (isOptional: boolean) =>
      factsOf(keeper({}, isOptional).refused(undefined, { status: 401 }, signal));
    expect(await refused(true)).toMatchObject({
      kind: 'auth',
      status: 401,
      message: `${signIn}; or give a token by --header-env or --header-file, in a file of servers by \`headers\``,
    });
    expect(await refused(false)).toMatchObject({ message: signIn });
  });

  it('[P-4] are those of a later sign-in, without a restart', async () => {
    const { server, keeper, signIn } = await startGuarded();
    const one = keeper();
    expect(await factsOf(one.token(signal))).toMatchObject({ kind: 'auth' });
    await signIn();
    expect(await request(server.url, one)).toBe(200);
  });

  it('[P-4] are got with the credentials of a program, whose secret is not kept', async () => {
    const { server, keeper, giver, directory } = await startGuarded();
    const own = { grant: 'client_credentials', clientId: 'robot', clientSecret: 'planted-secret' } as const;
    const one = keeper(own);
    expect(await Promise.all([request(server.url, one), request(server.url, one)])).toEqual([200, 200]);
    expect(await request(server.url, keeper(own))).toBe(200);
    expect(giver.tokenRequests).toHaveLength(1);
    giver.revokeAll();
    expect(await request(server.url, one)).toBe(200);
    const [file = ''] = readdirSync(directory);
    expect(readFileSync(join(directory, file), 'utf8')).not.toContain('planted-secret');
  });
});

describe('a storm of requests for tokens', () => {
  it('[P-4] does not come of a server that refuses every token: a day of calls asks about twice an hour', async () => {
    const { server, keeper, giver, clock } = await startSignedIn();
    giver.acceptsTokens = false;
    let one = keeper();
    for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
      expect(await factsOf(request(server.url, one))).toSatisfy(
        (end: unknown) => end === 401 || (end as { kind: string }).kind === 'auth',
      );
      // Whether it is one process or a new one each time makes no difference.
      if (minutes % 20 === 0) one = keeper();
      clock.skip(10 * minute);
    }
    expect(giver.tokenRequests.length).toBeGreaterThan(5);
    expect(giver.tokenRequests.length).toBeLessThanOrEqual(60);
  });

  it('[P-4] does not come of an authorization server that is down for a day', async () => {
    const { keeper, giver, clock } = await startSignedIn();
    clock.skip(61 * minute);
    const one = keeper();
    const ends = new Set<string>();
    for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
      giver.faults.push('html_503');
      ends.add(((await factsOf(one.token(signal))) as { kind: string }).kind);
      giver.faults.length = 0;
      clock.skip(10 * minute);
    }
    expect([...ends]).toEqual(['transient']);
    expect(giver.tokenRequests.length).toBeLessThanOrEqual(160);
  });

  it('[P-4] does not come of tokens that live for a second', async () => {
    const { keeper, giver, clock } = await startSignedIn({ expiresIn: 1 });
    const one = keeper();
    for (let seconds = 0; seconds < 300; seconds += 2) {
      clock.skip(2000);
      await factsOf(one.token(signal));
    }
    expect(giver.tokenRequests.length).toBeLessThanOrEqual(6);
  });
});
