import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/client';
import type { Clock } from '../../../../policy/clock.ts';
import { messageOf } from '../../../../policy/failures/thrown.ts';
import { findIssuer } from './issuer.ts';
import { conversation, keepTokens, register, type SignInEnd, withOfflineAccess } from './newSignIn.ts';
import { renewedOf, tokensBy } from './renewals.ts';
import type { SignInFile } from './signInFile.ts';
import { refused, TokenRequest } from './tokenRequest.ts';

const grant = 'urn:ietf:params:oauth:grant-type:device_code';
/** Interval of the questions where the server names none, and what `slow_down` adds, in ms (RFC 8628, 3.2 and 3.5). */
const usualMs = 5000;
/** Longest interval after failures, and longest life of a code, in ms. */
const longestMs = 60_000;
const longestLifeMs = 60 * 60_000;
/** Life of a code where the server does not name it, as it must (RFC 8628, 3.2), in ms. */
const usualLifeMs = 15 * 60_000;

/** A code that a person enters on a device with a browser. */
export interface DeviceCode {
  /** Address of the page that takes it. */
  readonly address: string;
  readonly code: string;
  /** Address that has the code in it. @defaultValue the server gives none */
  readonly whole?: string | undefined;
  /** Time until it is good, in ms from now. */
  readonly lifeMs: number;
}

/** A sign-in of a person on another device (RFC 8628). */
export interface DeviceSignIn {
  readonly file: SignInFile;
  readonly clock: Clock;
  /** Identity of a client that was registered beforehand; otherwise one is registered now. */
  readonly client?: OAuthClientInformationMixed | undefined;
  /** @defaultValue what the server asks for */
  readonly scope?: string | undefined;
  /** Tells people the code. */
  readonly show: (code: DeviceCode) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Keeps the process for it. @defaultValue false */
  readonly holdsProcess?: boolean | undefined;
}

/** Has a person sign in on another device, and keeps the tokens. Never rejects. */
export async function signInByDevice(request: DeviceSignIn): Promise<SignInEnd> {
  try {
    const { file } = request;
    const asked = await conversation(request, (talk) => askCode(request, talk));
    request.show(asked.told);
    const tokens = await answered(request, asked);
    // Somebody signed in elsewhere meanwhile.
    if (tokens === undefined) return { ok: true, issuer: file.read().issuer?.metadata.issuer ?? '', renews: true };
    return await keepTokens(request, renewedOf(asked.issuer, tokens, asked.scope));
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

type Asked = Awaited<ReturnType<typeof askCode>>;

async function askCode({ file, client: given, scope: wanted }: DeviceSignIn, talk: TokenRequest) {
  const found = await findIssuer(file.server, { client_id: '' }, talk);
  const { metadata, resource } = found.issuer;
  const endpoint: unknown = Reflect.get(metadata, 'device_authorization_endpoint');
  if (typeof endpoint !== 'string') throw refused('It gives no codes for other devices: sign in with a browser here');
  insistOnHttps(endpoint);
  const scope = withOfflineAccess(wanted ?? found.scope, metadata);
  const client = given ?? (await register(metadata, { grant }, scope, talk));
  const secret: unknown = Reflect.get(client, 'client_secret');
  const body = new URLSearchParams({
    ...{ client_id: client.client_id, resource },
    ...(scope !== undefined && { scope }),
    ...(typeof secret === 'string' && { client_secret: secret }),
  });
  const response = await talk.fetch(endpoint, { method: 'POST', headers: { accept: 'application/json' }, body });
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  if (!response.ok) throw Object.assign(new Error('refused'), { code: answer['error'] });
  const { device_code: deviceCode, user_code: code, verification_uri: address, expires_in: life } = answer;
  const { verification_uri_complete: whole, interval } = answer;
  if (typeof deviceCode !== 'string' || typeof code !== 'string' || !isPage(address)) throw new Error('no code');
  const lifeMs = Math.min(longestLifeMs, Number(life) > 0 ? 1000 * Number(life) : usualLifeMs);
  return {
    ...{ issuer: { ...found.issuer, client }, scope, deviceCode },
    intervalMs: Number(interval) > 0 ? Math.max(1000, 1000 * Number(interval)) : usualMs,
    told: {
      address,
      code: code.replaceAll(/[^\w-]/g, ' ').slice(0, 40),
      whole: isPage(whole) ? whole : undefined,
      lifeMs,
    },
  };
}

/** Asks for the tokens until the person has decided. @returns undefined where somebody has signed in elsewhere. */
async function answered(request: DeviceSignIn, asked: Asked): Promise<OAuthTokens | undefined> {
  const { clock, file } = request;
  const until = clock.now() + asked.told.lifeMs;
  const before = file.read().tokens?.access;
  let waitMs = asked.intervalMs;
  for (;;) {
    await pause(request, Math.min(waitMs, until - clock.now()));
    if (file.read().tokens?.access !== before) return undefined;
    if (clock.now() >= until) throw refused(ends.get('expired_token') ?? '');
    const talk = new TokenRequest(clock, file.server);
    try {
      return await tokensBy(asked.issuer, { grant_type: grant, device_code: asked.deviceCode }, talk);
    } catch (error) {
      const refusal = talk.refusal(error);
      if (refusal === 'slow_down') waitMs += usualMs;
      else if (refusal === undefined) {
        const { kind, status, message, retryAfterMs = 0 } = talk.failure(error);
        // It granted something, which is no token: no other answer follows.
        if (kind === 'auth' && status === undefined) throw refused(message);
        waitMs = Math.min(longestMs, Math.max(2 * waitMs, retryAfterMs));
      } else if (refusal !== 'authorization_pending')
        throw refused(ends.get(refusal) ?? `The authorization server refused: ${refusal.slice(0, 50)}`);
    } finally {
      talk.end();
    }
  }
}

const ends = new Map([
  ['access_denied', 'It was declined in the browser'],
  ['expired_token', 'Nobody signed in while the code was good: start the sign-in again for a new one'],
]);

function pause({ clock, signal, holdsProcess = false }: DeviceSignIn, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clock.clearTimeout(timer);
      reject(refused('The sign-in was stopped'));
    };
    const go = (): void => {
      signal.removeEventListener('abort', stop);
      resolve();
    };
    const timer = clock.setTimeout(go, Math.max(0, ms), { ref: holdsProcess });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

const isPage = (value: unknown): value is string =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

/** Loopback is what tests and development have. */
function insistOnHttps(endpoint: string): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol !== 'https:' && !/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
    throw refused('The authorization server is not asked by https');
}
