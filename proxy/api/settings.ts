import {
  type Given,
  type Values,
  boolean,
  choice,
  duration,
  integer,
  readOptions,
  text,
} from '../../src/policy/options/face.ts';
import { type IntegrationPolicy, budgetKey, defaultPolicy, usualRate } from '../../src/policy/face.ts';
import { type SpinningChoice, spinningChoices } from '../../src/policy/spinning/face.ts';
import { show } from '../../src/policy/text/face.ts';

/** Longest answer of all, in ms: what limits a stream is its silence. */
const longestMs = 24 * 3_600_000;

/** Policy of an upstream that has none configured for it. */
export const apiPolicy: IntegrationPolicy = Object.freeze({
  ...defaultPolicy,
  retry: {
    ...defaultPolicy.retry,
    // Their budget is what ends the tries.
    maxAttempts: 100,
    backoff: { kind: 'exponential', initialMs: 500, factor: 2, maxMs: 8000, jitter: { kind: 'factor', factor: 0.2 } },
    repeatAfter: 'lost',
    overloadedFactor: 1,
  },
  limits: { idleMs: 90_000, attemptMs: longestMs, overallMs: longestMs },
  // No longer than the waits of one request: requests are held back while it is open, and a single one tries it.
  breaker: { ...defaultPolicy.breaker, resetTimeoutMs: 5000, openFactor: 1.5, maxOpenMs: 8000 },
  maxInFlight: 1000,
  maxAbandoned: 1000,
  maxPauseMs: 240_000,
  // Limits of a key that answers tell of hold for the next requests.
  rate: usualRate,
} satisfies IntegrationPolicy);

function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '' && search === '' && hash === '';
}

const address = { secret: true } as const;

const apiProxyKeys = {
  /** Address that requests go to: `https://api.example`, with a path where all of it stands below one. Without user name and password. */
  upstream: text({ ...address, required: true }),
  /** Another upstream of the same protocol, asked when the first one cannot answer. @defaultValue none */
  fallback: text(address),
  /** The key for `fallback`, in place of that of the client. A `fallback` of another origin needs it, or `fallbackClientKey`. @defaultValue none */
  fallbackKey: text({ secret: true }),
  /** Lets the client's own key go to a `fallback` of another origin, which would learn a secret of the first. @defaultValue false */
  fallbackClientKey: boolean({ default: false }),
  /** Name that it is recorded and restarted under. @defaultValue the host of `upstream` */
  name: text(),
  /**
   * Time in ms above 0 that a request may be tried again before its client gets an answer, from when it is there with its body. Clients wait 300 s and more
   * for the first byte. With a `fallback` half of it is for the first upstream. @defaultValue 240000
   */
  budgetMs: duration({ default: 240_000 }),
  /** Limit on the headers of an answer that is to be a stream, in ms above 0; then the request is sent again. @defaultValue 120000 */
  headersMs: duration({ default: 120_000 }),
  /** Limit on a stream without a byte, in ms above 0. Healthy ones are silent for up to 30 s. @defaultValue 90000 */
  bytesMs: duration({ default: apiPolicy.limits.idleMs }),
  /** Limit on a stream with signs of life alone (pings, frames, empty deltas) before its first content, in ms above 0: a model may think in silence. @defaultValue 600000 */
  firstContentMs: duration({ default: 600_000 }),
  /** The same between two events that have content, in ms above 0. @defaultValue 300000 */
  contentMs: duration({ default: 300_000 }),
  /** Limit on an answer that is no stream without a byte, headers included, in ms above 0. @defaultValue 300000 */
  wholeMs: duration({ default: 300_000 }),
  /**
   * Step to which it goes against calls of tools that are made and answered alike again and again, by the conversation in each request. `notice`, `tell`: an event and a
   * header of the answer. `hold`, `end`: 20 equal failures since the last message of a person end the turn. Likewise for a stream whose text is one passage over and
   * over: an event, and by `hold` or `end` its end as a failure. @defaultValue 'notice'
   */
  spinning: choice(spinningChoices, { default: 'notice', given: {} as SpinningChoice }),
  /** Budget of all its requests. @defaultValue that of its name in the configuration */
  spending: budgetKey(''),
  /** A longer body of a request is passed as it comes and sent once, in bytes, at least 1. @defaultValue 36 MiB */
  maxKeptBytes: integer({ unit: 'bytes', default: 36 * 1024 * 1024 }),
  /** Bodies that are kept at a time; what is beyond is passed and sent once, in bytes, at least 1. @defaultValue 256 MiB */
  maxKeptInAllBytes: integer({ unit: 'bytes', default: 256 * 1024 * 1024 }),
};

/** A reverse proxy in front of the HTTP API of a model. */
export interface ApiProxyOptions extends Given<typeof apiProxyKeys> {}

/** {@link ApiProxyOptions}, checked, durations in ms. */
export type ApiProxySettings = Values<typeof apiProxyKeys>;

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkApiProxy(options: ApiProxyOptions): ApiProxySettings {
  for (const name of ['upstream', 'fallback'] as const) checkAddress(name, options[name]);
  const settings = readOptions('', options, apiProxyKeys);
  const { upstream, fallback, fallbackKey, fallbackClientKey } = settings;
  if (fallbackKey !== undefined && fallbackClientKey)
    throw new RangeError('`fallbackKey` and `fallbackClientKey` exclude each other');
  if (isSame(upstream, fallback))
    throw new RangeError('Expected `fallback` to be another address than `upstream`, got the same');
  if (isElsewhere(upstream, fallback) && fallbackKey === undefined && !fallbackClientKey) {
    throw new RangeError(
      "`fallback` has another origin than `upstream`: give `fallbackKey`, or `fallbackClientKey: true` to send it the client's own",
    );
  }
  return settings;
}

/** Pattern of an address without a scheme, or with another one, that can be nothing else. */
const plainAddress =
  /^(?:[a-z]+:\/\/)?(?:localhost|[a-z\d-]+(?:\.[a-z\d-]+)*\.[a-z\d]{1,20})(?::\d+)?(?:\/[\w.-]{0,20})*$/;

/** Its value is shown where it holds no secret: what is wrong may be a user name with a password, or a key in its place. */
function checkAddress(name: string, value: unknown): void {
  if (typeof value !== 'string' || isAddress(value)) return;
  const isPlain = plainAddress.test(value);
  const got = isPlain ? show(value) : 'a string that is not shown';
  const hint =
    isPlain && isAddress(`https://${value}`) && !value.includes('//') ? `; did you mean https://${value}?` : '';
  const expected = 'an address such as https://api.example, without user name, password and query';
  throw new RangeError(`Expected \`${name}\` to be ${expected}, got ${got}${hint}`);
}

function isSame(upstream: string, fallback: string | undefined): boolean {
  const [one, other] = [upstream, fallback ?? ''].map((each) =>
    URL.canParse(each) ? new URL(each).href.replace(/\/+$/, '') : each,
  );
  return one === other;
}

/** Tells whether a fallback is somebody else, whom the key of the client is not meant for. */
export function isElsewhere(upstream: string, fallback: string | undefined): boolean {
  if (fallback === undefined || !URL.canParse(upstream) || !URL.canParse(fallback)) return false;
  return new URL(fallback).origin !== new URL(upstream).origin;
}
