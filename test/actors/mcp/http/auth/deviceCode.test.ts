import { describe, expect, it } from 'vitest';
import {
  type DeviceCode,
  signInByDevice,
  type DeviceSignIn,
} from '../../../../../src/actors/mcp/http/auth/deviceCode.ts';
import type { AuthorizationServerOptions } from '../../../../support/authorizationServer.ts';
import type { SkippingClock } from '../../../../support/skippingClock.ts';
import { factsOf, request, startGuarded } from './signedIn.ts';

const second = 1000;

/** Resolves once the next question is waited for, and no request is under way, whose limit is 15 s. */
const waiting = (clock: SkippingClock): Promise<void> =>
  expect.poll(() => clock.waits.filter((ms) => ms !== 15 * second).length === 1 && clock.waits.length === 1).toBe(true);

/** A person who is to sign in on another device. */
async function startAsking(options: AuthorizationServerOptions = {}, own: Partial<DeviceSignIn> = {}) {
  const world = await startGuarded(options);
  const { giver, clock, file } = world;
  const over = new AbortController();
  const shown: DeviceCode[] = [];
  const end = signInByDevice({ file, clock, show: (code) => shown.push(code), signal: over.signal, ...own });
  /** Time passes; the question that is due is asked. */
  const asked = async (ms: number, count: number) => {
    await waiting(clock);
    clock.skip(ms);
    await giver.until(() => giver.tokenRequests.length === count);
  };
  const quiet = async (ms: number) => {
    await waiting(clock);
    clock.skip(ms);
    await new Promise((resolve) => setImmediate(resolve));
    return giver.tokenRequests.length;
  };
  return { ...world, over, shown, end, asked, quiet };
}

describe('a sign-in by a device code', () => {
  it('[P-4] shows the address and the code, asks at the interval, and keeps the tokens', async () => {
    const { end, shown, asked, quiet, giver, server, keeper, file } = await startAsking({ device: { interval: 7 } });
    await asked(7 * second, 1);
    expect(shown).toEqual([{ address: `${giver.url}/enter`, code: 'WDJB-MJHT', whole: undefined, lifeMs: 600_000 }]);
    expect(await quiet(7 * second - 1)).toBe(1);
    giver.isEntered = true;
    await asked(1, 2);
    expect(await end).toMatchObject({ ok: true, issuer: giver.url, renews: true });
    expect(giver.deviceRequests[0]?.get('resource')).toBe(server.url);
    expect(giver.deviceRequests[0]?.get('scope')).toBeNull();
    expect(giver.tokenRequests[1]?.get('device_code')).toBe('planted-device-code');
    expect(await request(server.url, keeper())).toBe(200);
    expect(JSON.stringify(file.read())).not.toContain('planted-device-code');
  });

  it('[P-4] asks every 5 s where no interval is said, and 5 s later for each slow_down', async () => {
    const { end, asked, quiet, giver } = await startAsking({ device: { interval: undefined } });
    giver.deviceErrors.push('authorization_pending', 'slow_down', 'authorization_pending');
    await asked(5 * second, 1);
    await asked(5 * second, 2);
    expect(await quiet(10 * second - 1)).toBe(2);
    await asked(1, 3);
    expect(await quiet(10 * second - 1)).toBe(3);
    giver.isEntered = true;
    await asked(1, 4);
    expect(await end).toMatchObject({ ok: true });
  });

  it.each([
    ['access_denied', 'It was declined in the browser'],
    ['expired_token', 'Nobody signed in while the code was good: start the sign-in again for a new one'],
    ['invalid_grant', 'The authorization server refused: invalid_grant'],
    ['constructor', 'The authorization server refused: constructor'],
  ])('[P-4] ends at %s, and says so', async (error, message) => {
    const { end, asked, giver, file } = await startAsking();
    giver.deviceErrors.push(error);
    await asked(5 * second, 1);
    expect(await end).toEqual({ ok: false, message });
    expect(file.read().tokens).toBeUndefined();
  });

  it('[P-4] ends with the code by itself, also where the server never says so', async () => {
    const { end, asked, quiet, giver } = await startAsking({ device: { expires_in: 8 } });
    await asked(5 * second, 1);
    expect(await quiet(3 * second)).toBe(1);
    expect(await end).toMatchObject({
      ok: false,
      message: expect.stringContaining('while the code was good') as string,
    });
    expect(giver.tokenRequests).toHaveLength(1);
  });

  it.each(['html_200', 'no_token'] as const)(
    '[P-4] ends at an answer without a token, and says so: %s',
    async (fault) => {
      const { end, asked, giver } = await startAsking();
      giver.faults.push(fault);
      await asked(5 * second, 1);
      expect(await end).toEqual({ ok: false, message: 'The authorization server gave no valid answer' });
    },
  );

  it.each([undefined, 'soon', -1])('[P-4] takes a code for good for 15 min where its life is %j', async (life) => {
    const { over, shown, clock } = await startAsking({ device: { expires_in: life } });
    await waiting(clock);
    expect(shown).toMatchObject([{ lifeMs: 900_000 }]);
    over.abort();
  });

  it('[P-4] goes on after trouble of the server, and asks less often', async () => {
    const { end, asked, quiet, giver } = await startAsking();
    giver.faults.push('oauth_503', 'reset');
    await asked(5 * second, 1);
    expect(await quiet(10 * second - 1)).toBe(1);
    await asked(1, 2);
    giver.isEntered = true;
    await asked(20 * second, 3);
    expect(await end).toMatchObject({ ok: true });
  });

  it('[P-4] is stopped by who asked for it, and by a sign-in elsewhere', async () => {
    const { end, over, clock } = await startAsking();
    await waiting(clock);
    over.abort();
    expect(await end).toEqual({ ok: false, message: 'The sign-in was stopped' });
    const other = await startAsking();
    await waiting(other.clock);
    expect(await other.signIn()).toMatchObject({ ok: true });
    other.giver.tokenRequests.length = 0;
    expect(await other.quiet(5 * second)).toBe(0);
    expect(await other.end).toMatchObject({ ok: true });
  });

  it.each([
    [
      'no endpoint',
      { metadata: { device_authorization_endpoint: undefined } },
      'gives no codes for other devices: sign in with a browser here',
    ],
    ['no https', { metadata: { device_authorization_endpoint: 'http://giver.example/device' } }, 'not asked by https'],
    ['a page that is none', { device: { verification_uri: 'javascript:alert(1)' } }, 'gave no valid answer'],
    ['a refusal', { metadata: { registration_endpoint: undefined } }, 'registers no clients'],
  ])('[P-4] says what is wrong with the server: %s', async (_, options, message) => {
    const { end, shown } = await startAsking(options);
    expect(await end).toMatchObject({ ok: false, message: expect.stringContaining(message) as string });
    expect(shown).toEqual([]);
  });

  it('[P-4] takes a client that was registered beforehand, with its secret, and its own scope', async () => {
    const client = { client_id: 'known', client_secret: 'its secret' };
    const { end, asked, giver } = await startAsking({}, { client, scope: 'tools' });
    giver.isEntered = true;
    await asked(5 * second, 1);
    expect(await end).toMatchObject({ ok: true });
    expect(giver.paths).not.toContain('/register');
    expect(Object.fromEntries(giver.deviceRequests[0] ?? [])).toMatchObject({
      ...{ client_id: 'known', client_secret: 'its secret' },
      scope: 'tools offline_access',
    });
  });
});

describe('a call without a sign-in, where a device code is the way to one', () => {
  const { signal } = new AbortController();

  it('[P-4] fails with the address and the code, asks one person for all of them, and goes on once somebody has signed in', async () => {
    const { keeper, giver, clock, server } = await startGuarded();
    const told: string[] = [];
    const one = keeper({ grant: 'device_code' }, false, ({ code }) => void told.push(code));
    const calls = await Promise.all([1, 2, 3].map(() => factsOf(one.token(signal))));
    for (const facts of calls)
      expect(facts).toMatchObject({
        ...{ kind: 'auth', outcome: 'not_started' },
        message: expect.stringMatching(
          /^Not signed in: sign in at \S+\/enter with the code WDJB-MJHT, on any device, within \d+\w+; then make the call again$/,
        ) as string,
      });
    expect([told, giver.deviceRequests.length]).toEqual([['WDJB-MJHT'], 1]);
    giver.isEntered = true;
    await waiting(clock);
    clock.skip(5 * second);
    await expect.poll(() => request(server.url, one).catch(() => 0)).toBe(200);
  });

  it('[P-4] asks nobody again within a minute of a refusal', async () => {
    const { keeper, giver, clock } = await startGuarded();
    const one = keeper({ grant: 'device_code' });
    await factsOf(one.token(signal));
    giver.deviceErrors.push('access_denied');
    await waiting(clock);
    clock.skip(5 * second);
    await expect
      .poll(async () => ((await factsOf(one.token(signal))) as { message?: string }).message)
      .toBe('Not signed in: It was declined in the browser');
    expect(giver.deviceRequests).toHaveLength(1);
    clock.skip(60 * second);
    expect(((await factsOf(one.token(signal))) as { message?: string }).message).toContain('WDJB-MJHT');
    expect(giver.deviceRequests).toHaveLength(2);
  });
});
