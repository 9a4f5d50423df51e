import { rateOptionKeys, type RateOptions } from '../../calls/rates/integrationRates.ts';
import { effects } from '../../policy/effects.ts';
import { headersKey, isAddress } from '../../policy/options/httpKeys.ts';
import {
  callback,
  choice,
  duration,
  integer,
  type Given,
  section,
  text,
  type Values,
} from '../../policy/options/optionKeys.ts';
import { policyKey } from '../../policy/policyInput.ts';
import type { Costs } from '../../policy/rateLimit.ts';
import { reconcileKey } from '../../policy/reconcileRule.ts';
import { readOptions } from '../../policy/options/readOptions.ts';
import { eventsKey } from '../../streams/eventRules.ts';
import type { HttpRequest } from './httpRequest.ts';

/** Forms that the body of an answer takes. */
export interface HttpBodies {
  /** Value that the JSON holds; `undefined` where there is no body (204, 304, `HEAD`, `content-length: 0`). */
  readonly json: unknown;
  readonly text: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The response as it came, its body unread: the limits of the call end with its headers. Who gets it reads its body, or cancels it. */
  readonly response: Response;
}

/** Form in which the body of an answer is read. */
export type HttpParse = keyof HttpBodies;

/** An answer below 400; any other is a failure. */
export interface HttpAnswer<P extends HttpParse = 'json'> {
  readonly status: number;
  /** By lower-case names. Of those that come more than once, `set-cookie` alone, the last counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HttpBodies[P];
}

/** Rate limits of an HTTP API. */
export interface HttpRateOptions<P extends HttpParse = 'json'> extends RateOptions<HttpRequest> {
  /**
   * Tells what a call really cost, by its answer, as a number of tokens or any costs by name: what `cost` had estimated is corrected. For streams
   * `events.spent` says it. Throwing or returning another thing corrects nothing. @defaultValue as estimated
   */
  spent?(answer: HttpAnswer<P>): number | Costs | undefined;
}

/** Most redirects in a row that are followed. */
export const mostRedirects = 10;

/** The options of an HTTP API; the table of docs/http-apis.md is made of it and of the type. */
export const httpKeys = {
  /**
   * Address where its paths begin: `https://api.example/v1`. No call leaves it, whatever its `path` says. Its query goes with every call. Without user name
   * and password, which belong into a header.
   */
  baseUrl: text({
    required: true,
    secret: true,
    form: isAddress,
    expected: 'an address with http or https, without user name and password',
  }),
  /** Sent with every call; a header of the call takes the place of one of its name. @defaultValue none */
  headers: headersKey,
  /** Its limits, retries and circuit breaker. @defaultValue preset `sdk` */
  policy: policyKey,
  /**
   * Effect on the world of calls whose method does not say. GET, HEAD and OPTIONS are `readOnly`, PUT and DELETE `idempotent`; an option of the call wins
   * over both. @defaultValue unspecified
   */
  effect: choice(effects),
  /** Rule that finds out what became of a call whose answer was lost. @defaultValue nobody asks */
  reconcile: reconcileKey,
  /**
   * Time for which a call of a session goes on after a limit has ended it, in ms; 0 is none. The same call, made again by its session, joins it or gets its
   * answer. At most 32 at a time. For requests whose answer comes late, and is worth waiting for. @defaultValue 0
   */
  keepMs: duration({ zero: true, default: 0 }),
  parse: choice(['json', 'text', 'bytes', 'response'], { default: 'json' }),
  /**
   * Longest body of an answer, in bytes, at least 1; of a stream, its longest event or line. A longer one is the failure `message_too_large`.
   * @defaultValue 10,000,000
   */
  maxBodyBytes: integer({ unit: 'bytes', default: 10_000_000 }),
  /**
   * Rules for the events of its streams: `anthropicEvents`, `openAiEvents`, or some of one's own; `{}` for none.
   * @defaultValue `modelEvents`, which know both APIs by what they say
   */
  events: eventsKey,
  /**
   * Longest wait for the first chunk of a stream that has content while its server gives nothing but signs of life, in ms above 0; an option of the stream
   * wins. @defaultValue 600,000
   */
  firstContentMs: duration({ default: 600_000 }),
  /**
   * What is done once the last 2,000 characters that a model streams are one passage of 20 to 200 characters over and over: `notice` is the event
   * `call.repeats_itself`, `end` also ends the stream as a failure (`spinning`). @defaultValue 'notice'
   */
  repeatedText: choice(['off', 'notice', 'end'], { default: 'notice' }),
  /** The same between two chunks that have content; an option of the stream wins. @defaultValue none */
  contentMs: duration(),
  /**
   * Handling of redirects: they are followed within the origin of `baseUrl` only, at most 10 in a row, so that nothing of a request goes to somebody else.
   * With `error` a redirect is a failure, as one to another origin always is; with `manual` it is the answer. @defaultValue 'follow'
   */
  redirect: choice(['follow', 'error', 'manual'], { default: 'follow' }),
  /**
   * Function that is called in place of the global `fetch`; its own timeouts are then its own. @defaultValue the global one, without its limits of 300 s on
   * headers and body: those of the policy hold
   */
  fetch: callback<typeof fetch>(),
  rate: section({
    ...rateOptionKeys<HttpRequest>(),
    spent: callback<(answer: never) => number | Costs | undefined>({ codeOnly: true }),
  }),
};

/** An HTTP API: where it is, and how it is spoken to. */
export interface HttpOptions<P extends HttpParse = 'json'> extends Given<typeof httpKeys> {
  /** Form that the body of an answer takes. @defaultValue 'json' */
  readonly parse?: P | undefined;
  /**
   * Its rate limits: requests, tokens or other costs in a window. What answers tell in their headers holds too, whether it is given or not;
   * `{ learn: false }` switches that off. @defaultValue what answers tell
   */
  readonly rate?: HttpRateOptions<P> | undefined;
}

/** {@link HttpOptions}, checked but for the policy, which is left to the one who resolves it. */
export type CheckedHttp = Values<typeof httpKeys>;

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkHttpOptions(name: string, options: HttpOptions<HttpParse>): CheckedHttp {
  return readOptions(name, options, httpKeys);
}
