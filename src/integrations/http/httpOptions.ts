import { type Effect, effects } from '../../policy/effects.ts';
import { callback, choice, integer, type Key, type KeysOf, text, type Values } from '../../policy/optionKeys.ts';
import { type PolicyInput, policyKey } from '../../policy/policyInput.ts';
import { readOptions } from '../../policy/readOptions.ts';

/** What the body of an answer becomes. */
export interface HttpBodies {
  /** What the JSON holds; `undefined` where there is no body (204, 304, `HEAD`, `content-length: 0`). */
  readonly json: unknown;
  readonly text: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The response as it came, its body unread: the limits of the call end with its headers. Who gets it reads its body, or cancels it. */
  readonly response: Response;
}

/** How the body of an answer is read. */
export type HttpParse = keyof HttpBodies;

/** An answer below 400; any other is a failure. */
export interface HttpAnswer<P extends HttpParse = 'json'> {
  readonly status: number;
  /** By lower-case names. Of those that come more than once, `set-cookie` alone, the last counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HttpBodies[P];
}

/** An HTTP API: where it is, and how it is spoken to. */
export interface HttpOptions<P extends HttpParse = 'json'> {
  /**
   * Where its paths begin: `https://api.example/v1`. No call leaves it, whatever its `path` says. What its query says goes with every
   * call. Without user name and password, which belong into a header.
   */
  readonly baseUrl: string;
  /** Sent with every call; a header of the call takes the place of one of its name. @defaultValue none */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** @defaultValue preset `sdk` */
  readonly policy?: PolicyInput | undefined;
  /**
   * What calls may do to the world whose method does not say. GET, HEAD and OPTIONS are `readOnly`, PUT and DELETE `idempotent`; an option of
   * the call wins over both. @defaultValue unspecified
   */
  readonly effect?: Effect | undefined;
  /** What the body of an answer becomes. @defaultValue 'json' */
  readonly parse?: P | undefined;
  /** Longest body of an answer, in bytes, at least 1; a longer one is the failure `message_too_large`. @defaultValue 10,000,000 */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Whether redirects are followed: within the origin of `baseUrl` only, at most 10 in a row, so that nothing of a request goes to somebody
   * else. With `error` a redirect is a failure, as one to another origin always is; with `manual` it is the answer. @defaultValue 'follow'
   */
  readonly redirect?: 'follow' | 'error' | 'manual' | undefined;
  /**
   * What is called in place of the global `fetch`; its own timeouts are then its own. @defaultValue the global one, without its limits of 300 s on
   * headers and body: those of the policy hold
   */
  readonly fetch?: typeof fetch | undefined;
}

/** An address that requests can go to. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** A header may not break its line, and has no characters that a byte cannot hold. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The option of headers; what they say is never shown. One that is `undefined` is taken out. */
export const headersKey: Key<Readonly<Record<string, string | undefined>> | undefined> = {
  kind: 'names',
  of: text({
    empty: true,
    secret: true,
    form: (value) => headerValue.test(value),
    expected: 'text that a header can hold',
  }),
  gaps: true,
  name: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  expected: 'an object of strings',
};

/** The options of an HTTP API. */
export const httpKeys = {
  baseUrl: text({
    required: true,
    secret: true,
    form: isAddress,
    expected: 'an address with http or https, without user name and password',
  }),
  headers: headersKey,
  policy: policyKey,
  effect: choice(effects),
  parse: choice(['json', 'text', 'bytes', 'response'], { default: 'json' }),
  maxBodyBytes: integer({ unit: 'bytes', default: 10_000_000 }),
  redirect: choice(['follow', 'error', 'manual'], { default: 'follow' }),
  fetch: callback<typeof fetch>(),
} satisfies KeysOf<HttpOptions<HttpParse>>;

/** {@link HttpOptions}, checked but for the policy, which is left to the one who resolves it. */
export type CheckedHttp = Values<typeof httpKeys>;

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkHttpOptions(name: string, options: HttpOptions<HttpParse>): CheckedHttp {
  return readOptions(name, options, httpKeys);
}
