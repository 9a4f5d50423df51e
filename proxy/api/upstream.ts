import { hash } from 'node:crypto';
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
  type RequestOptions,
} from 'node:http';
import { Agent as SecureAgent, request as requestSecure } from 'node:https';
import { serverOf } from '../../src/integrations/http/face.ts';
import type { Fact } from '../../src/policy/facts/face.ts';
import type { FailureKind } from '../../src/policy/failures/face.ts';
import { type CallPath, type CallSettings, defaultSettings } from '../../src/calls/face.ts';
import { formatDuration, say } from '../../src/policy/text/face.ts';
import { type InputNames, RetryBudget } from '../../src/policy/face.ts';
import { type Runtime, superviseIntegration } from '../../src/runtime/face.ts';
import type { FailedAnswer } from './failedAnswer.ts';
import type { Route } from './route.ts';
import { Passage } from './passage.ts';
import { apiPolicy } from './settings.ts';

/** Keys and models that have a bucket of their own; further ones share one. */
const mostBuckets = 200;

/** Bucket of one key and one model: its requests, its limits, its pauses. */
export interface Bucket {
  readonly path: CallPath<unknown, unknown>;
  /** The last answer that closed it to requests, for those that come while it is closed. */
  lastRefusal: (FailedAnswer & { readonly kind: FailureKind }) | undefined;
}

/**
 * Target of requests: an integration whose circuit counts the faults of the upstream as a whole, and one for each key and model, which pauses when that is
 * over its limit.
 */
export class Upstream {
  readonly name: string;
  readonly host: string;
  /** The credential that takes the place of the client's. */
  readonly key: string | undefined;
  readonly path: CallPath<Passage, void>;
  readonly #runtime: Runtime;
  readonly #url: URL;
  readonly #settings: CallSettings<Passage, void>;
  #unreachable: string | undefined = undefined;
  readonly #buckets = new Map<string, Bucket>();
  readonly #agents: { readonly kept: Agent; readonly fresh: Agent };
  readonly #request: (options: RequestOptions) => ClientRequest;

  /** @param probeMs - the longest that a request can take until its answer says how the upstream is. */
  constructor(runtime: Runtime, name: string, url: string, key: string | undefined, probeMs: number) {
    this.name = name;
    this.key = key;
    this.#runtime = runtime;
    this.#url = new URL(url);
    this.host = this.#url.host;
    const isSecure = this.#url.protocol === 'https:';
    const AgentOf = isSecure ? SecureAgent : Agent;
    this.#agents = {
      kept: new AgentOf({ keepAlive: true, noDelay: true, scheduling: 'lifo' }),
      fresh: new AgentOf({ keepAlive: false, noDelay: true }),
    };
    this.#request = isSecure ? requestSecure : requestPlain;
    runtime.declare(name);
    const policy = runtime.policies.policyOf(name, undefined, apiPolicy);
    const { retry, limits } = policy;
    // Nothing waits longer for a request that tries its circuit, also where that has vanished with its process.
    const ofProbe = { idleMs: probeMs, attemptMs: probeMs, overallMs: probeMs };
    this.path = superviseIntegration<Passage, void>(runtime, {
      name,
      about: { type: 'http', provider: this.#provider },
      // Limits of rate are those of a key and a model, and the budget is that of the proxy.
      policy: { ...policy, limits: ofProbe, rate: undefined, budget: undefined },
      shares: 'circuit',
      serves: true,
      operation: (passage) => passage.work(),
    });
    this.#settings = {
      ...defaultSettings<Passage, void>(this.path.policy, 'idempotent'),
      // They are those of the request that it is part of.
      ...limits,
      idleMs: limits.overallMs,
      retry: { ...retry, maxAttempts: 1 },
      isPromised: false,
      isPart: true,
      underWay: true,
    };
  }

  passage(): Passage {
    return new Passage(this.path, this.#settings, this.#runtime.clock);
  }

  /** Opens a request; its body is still to be written. @param isFresh - on a connection of its own. */
  request(
    options: Pick<RequestOptions, 'method' | 'headers'> & { readonly url: string },
    isFresh: boolean,
  ): ClientRequest {
    const { protocol, hostname, port } = this.#url;
    return this.#request({
      protocol,
      // The brackets of an IPv6 address belong to the URL alone.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method: options.method,
      path: joinPath(this.#url.pathname, options.url),
      headers: options.headers,
      agent: isFresh ? this.#agents.fresh : this.#agents.kept,
    });
  }

  /** A request did not get there: said once, until one does or it is for another reason. */
  unreachable(code: string): void {
    if (this.#unreachable === code) return;
    this.#unreachable = code;
    say(this.#runtime.logger, 'warn', `${this.host} cannot be reached (${code})`);
  }

  tell(fact: Fact): void {
    this.#runtime.bus.tell(fact);
  }

  reached(): void {
    if (this.#unreachable === undefined) return;
    this.#unreachable = undefined;
    say(this.#runtime.logger, 'warn', `${this.host} is reached again`);
  }

  /** The bucket of a key and a model. */
  bucketOf(credential: string, model: string | undefined): Bucket {
    const known = `${this.name}${model === undefined ? '' : `/${model}`}#${shortHash(credential)}`;
    const name = this.#buckets.has(known) || this.#buckets.size < mostBuckets ? known : `${this.name}/others`;
    const bucket = this.#buckets.get(name) ?? this.#makeBucket(name);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  close(): void {
    this.#agents.kept.destroy();
    this.#agents.fresh.destroy();
  }

  get #provider(): string | undefined {
    return ['anthropic', 'openai'].find((each) => this.#url.hostname.endsWith(`${each}.com`));
  }

  #makeBucket(name: string): Bucket {
    const runtime = this.#runtime;
    const policy = runtime.policies.policyOf(name, undefined, apiPolicy, this.name);
    const path = superviseIntegration<unknown, unknown>(runtime, {
      name,
      about: {
        ...{ type: 'http', provider: this.#provider, server: serverOf(this.#url) },
        // A bucket may be that of several models.
        modelOf: (request) => (request as AskedOf).asked.model,
        namesOf: (request) => namesOf(request as AskedOf),
      },
      policy: { ...policy, budget: undefined },
      shares: 'circuit',
      // The circuit of the upstream bounds what is tried again, and requests that it holds back are tries too.
      retryBudget: new RetryBudget({ cost: 0 }),
      operation: (_request, context) => context,
      describeTimeout: (reason, limitMs) =>
        reason === 'idle_timeout'
          ? `${this.host} sent nothing for ${formatDuration(limitMs)}`
          : `${this.host} gave no answer within ${formatDuration(limitMs)}`,
      amendTimeout: (facts) => ({ ...facts, breaker: 'ignored' }),
    });
    return { path, lastRefusal: undefined };
  }
}

/** Parts of a request that its records and its spans tell. */
interface AskedOf {
  readonly asked: {
    readonly model: string | undefined;
    readonly route: Pick<Route, 'dialect'>;
    readonly request: Pick<IncomingMessage, 'method'>;
  };
}

function namesOf({ asked: { request, route } }: AskedOf): InputNames {
  const { dialect } = route;
  const modelApi = dialect === undefined ? undefined : dialect === 'messages' ? 'anthropic' : 'openai';
  return { method: request.method, modelApi };
}

/** The path of a request below that of the upstream. A version that both of them have, such as `/v1`, stands there once. */
export function joinPath(base: string, url: string): string {
  const stem = base.replace(/\/+$/, '');
  const version = /\/v\d+[a-z\d]*$/.exec(stem)?.[0];
  const isTwice = version !== undefined && url.startsWith(version) && /^(?:[/?]|$)/.test(url.slice(version.length));
  return stem + (isTwice ? url.slice(version.length) : url);
}

/** Mark of the key that came last: most requests have that of the one before. */
let last = { credential: '', mark: '' };

/** Tells keys apart and says nothing of them. */
function shortHash(credential: string): string {
  if (last.mark === '' || last.credential !== credential)
    last = { credential, mark: hash('sha256', `unwedge:${credential}`, 'hex').slice(0, 6) };
  return last.mark;
}
