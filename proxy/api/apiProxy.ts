import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/policy/face.ts';
import type { DrainOrder } from '../../src/calls/face.ts';
import { inboundTrace } from '../wire/inboundTrace.ts';
import type { Failure } from '../../src/policy/failures/face.ts';
import { spinningNews } from '../../src/policy/spinning/face.ts';
import type { Part, Runtime } from '../../src/runtime/face.ts';
import type { LayerWhy } from '../../src/sessions/face.ts';
import { BudgetAccount } from '../../src/calls/rates/face.ts';
import { clientOf } from './clients.ts';
import { breakOff, endTurn, mayFallBack, refuse, stopping } from './ending.ts';
import { Exchange } from './exchange.ts';
import type { Asked } from './forwardedRequest.ts';
import { credentialOf } from './passedHeaders.ts';
import { repeatKeys, Repeats } from './repeats.ts';
import { askedModel, KeptBodies, type RequestBody } from './requestBody.ts';
import { modelOf, type Route, routeOf } from './route.ts';
import { apiPolicy, type ApiProxyOptions, type ApiProxySettings, checkApiProxy } from './settings.ts';
import { spinningHeader, SpinningRequests } from './spinningRequests.ts';
import { Upstream } from './upstream.ts';
import type { MetricFamily } from '../../src/policy/records/face.ts';
import { endUpgrade, type HttpServer, startHttpServer } from '../../web/server/httpServer.ts';
import { asksForMetrics, sendMetrics } from '../../web/server/sendMetrics.ts';

/**
 * A reverse proxy in front of the HTTP API of a model. Requests that fail before the first of their answer are sent again, within a time in
 * which no client gives up; an answer that breaks later is ended in the way its client can go on from.
 */
export class ApiProxy {
  readonly name: string;
  readonly #settings: ApiProxySettings;
  readonly #runtime: Runtime;
  readonly #upstreams: readonly Upstream[];
  readonly #repeats: Repeats;
  readonly #bodies: KeptBodies;
  readonly #spinning: SpinningRequests | undefined;
  readonly #budget: BudgetAccount | undefined;
  /** Requests that are under way. */
  readonly #open = new Map<ServerResponse, Exchange | undefined>();
  #drain: DrainOrder | undefined = undefined;
  #isStopping = false;

  /** @throws TypeError or RangeError that names the option and its value. */
  constructor(runtime: Runtime, options: ApiProxyOptions) {
    const settings = checkApiProxy(options);
    const { upstream, fallback, fallbackKey, headersMs, contentMs, wholeMs } = settings;
    // A request whose model thinks for longer is waited for by nobody else.
    const probeMs = Math.max(headersMs + contentMs, wholeMs);
    this.#settings = settings;
    this.#runtime = runtime;
    this.name = settings.name ?? new URL(upstream).host;
    this.#upstreams = [
      new Upstream(runtime, this.name, upstream, undefined, probeMs),
      ...(fallback === undefined
        ? []
        : [new Upstream(runtime, `${this.name}:fallback`, fallback, fallbackKey, probeMs)]),
    ];
    this.#repeats = new Repeats(runtime.clock);
    this.#bodies = new KeptBodies(settings.maxKeptBytes, settings.maxKeptInAllBytes);
    this.#spinning = settings.spinning === 'off' ? undefined : new SpinningRequests(settings.spinning);
    const budget = settings.spending ?? runtime.policies.policyOf(this.name, undefined, apiPolicy).budget;
    this.#budget = budget && new BudgetAccount(`api:${this.name}`, budget, runtime.budgets);
    runtime.join(this.#part());
  }

  /** Lists the requests that are under way. */
  layers(): readonly LayerWhy[] {
    return [...this.#open.values()].flatMap((exchange) => exchange?.layer(`unwedge api ${this.name}`) ?? []);
  }

  /** Answers a request. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that leaves is an error to what is written to it, and none to us.
    response.on('error', () => undefined);
    this.#open.set(response, undefined);
    response.once('close', () => this.#closed(response));
    try {
      const body = await this.#bodies.read(request);
      try {
        await this.#traced(request, response, body);
      } finally {
        this.#bodies.release(body);
      }
    } catch {
      // The client left in the middle of its request, or it is none that Node can pass on.
      response.destroy();
    }
  }

  /** Has a request followed from here to the end of its answer, where the host asks for telemetry. */
  async #traced(request: IncomingMessage, response: ServerResponse, body: RequestBody): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    const route = routeOf(method, url);
    const pass = (): Promise<Failure | undefined> => this.#pass(request, response, body, route);
    const { tracer } = this.#runtime.tracing;
    if (tracer === undefined) await pass();
    else {
      const from = inboundTrace((name) => headers[name]);
      const trace = tracer.requestBegins({ protocol: 'http', integration: this.name, method, route: route.path, from });
      const failure = await trace.run(pass);
      const status = response.headersSent ? response.statusCode : undefined;
      trace.ended(failure === undefined ? { ok: true, value: { status } } : { ok: false, failure });
    }
  }

  /** @returns what broke an answer that had begun. */
  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    body: RequestBody,
    route: Route,
  ): Promise<Failure | undefined> {
    const { method = 'GET', url = '/', headers } = request;
    const credential = credentialOf(headers);
    const whole = body.kind === 'whole' ? body.bytes : undefined;
    const keys = route.dialect === undefined ? [] : repeatKeys(url, headers, credential, whole);
    const releaseBody = (): void => this.#bodies.release(body);
    const isGemini = route.dialect === 'gemini';
    const { model, streams, choices } = askedModel(body);
    const asked: Asked = {
      model: isGemini ? modelOf(url) : model,
      streams: isGemini || streams,
      choices,
      request,
      response,
      body,
      route,
      client: clientOf(headers),
      arrivedAt: this.#runtime.clock.now(),
      isCounted: this.#budget !== undefined,
      releaseBody,
    };
    const ended = whole && method === 'POST' ? this.#endedAsSpinning(asked, whole) : undefined;
    if (ended !== undefined) return ended;
    const spent = route.dialect && this.#budget?.refusal({ requests: 1 });
    if (spent !== undefined) {
      endTurn(asked, spent.message);
      return { ...spent, integration: this.name, attempts: 0, retryable: false };
    }
    const delayMs = Math.min(this.#repeats.delayOf(keys), this.#settings.budgetMs / 2);
    if (delayMs > 0 && !response.destroyed) await waitFor(this.#runtime.clock, delayMs, response);
    let before: Failure | undefined;
    for (const [index, upstream] of this.#upstreams.entries()) {
      if (response.destroyed) return undefined;
      const isLast = index === this.#upstreams.length - 1;
      const bucket = upstream.bucketOf(credential, asked.model);
      if (this.#isStopping) {
        refuse(asked, undefined, bucket, stopping(this.name));
        return undefined;
      }
      const exchange = new Exchange(asked, upstream, bucket, this.#settings, this.#runtime.clock, isLast);
      this.#open.set(response, exchange);
      const outcome = await exchange.run();
      this.#budget?.used(exchange.forwarding?.figures ?? {});
      if (outcome.ok) {
        this.#repeats.ended(keys);
        if (before !== undefined) this.#tellFallback(exchange, before);
        return undefined;
      }
      if (exchange.isCommitted) {
        if (outcome.failure.reason !== 'reader_left') this.#repeats.broke(keys);
        if (!exchange.isDone) breakOff(asked, exchange, outcome.failure);
        return outcome.failure;
      }
      if (isLast || !mayFallBack(outcome.failure, asked)) {
        refuse(asked, exchange, bucket, outcome.failure);
        return undefined;
      }
      before = outcome.failure;
    }
    return undefined;
  }

  /** Tells of repetition in the conversation of a request. @returns the failure that the request is, where it is refused */
  #endedAsSpinning(asked: Asked, body: Buffer): Failure | undefined {
    const at = this.#runtime.clock.wallNow();
    const { session, found } = this.#spinning?.judge(body, asked.request.headers, at) ?? { session: '', found: [] };
    const integration = this.name;
    for (const { tool, verdict } of found) {
      // Words of the conversation stay out of events.
      const news = { ...spinningNews(tool, verdict), session, integration, answer: '' };
      if (verdict.isNews) this.#runtime.bus.tell({ type: 'session.spinning', ...news });
    }
    const worst = found.find(({ verdict }) => verdict.step === 'hold' || verdict.step === 'end') ?? found.at(-1);
    if (worst === undefined) return undefined;
    asked.response.setHeader('x-unwedge-spinning', spinningHeader(worst));
    const { step, text = '' } = worst.verdict;
    if (step === 'notice' || step === 'tell') return undefined;
    endTurn(asked, text);
    const { message } = spinningNews(worst.tool, worst.verdict);
    return { integration, kind: 'spinning', message, outcome: 'not_started', attempts: 0, retryable: false };
  }

  #closed(response: ServerResponse): void {
    this.#open.get(response)?.clientLeft();
    this.#open.delete(response);
    this.#drain?.ended();
  }

  #tellFallback(exchange: Exchange, { kind }: Failure): void {
    const { integration, callName: call } = exchange;
    this.#runtime.bus.tell({
      type: 'call.fell_back',
      integration,
      call,
      kind,
      label: exchange.asked.route.label,
      session: undefined,
    });
  }

  #part(): Part {
    const open = this.#open;
    return {
      get busy() {
        return open.size > 0;
      },
      drain: (order) => {
        this.#isStopping = true;
        this.#drain = order;
      },
      beforeSessions: () => {
        this.#isStopping = true;
      },
      afterCalls: () => {
        for (const upstream of this.#upstreams) upstream.close();
      },
    };
  }
}

function waitFor(clock: Clock, ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, ms);
    response.once('close', () => {
      clock.clearTimeout(timer);
      resolve();
    });
  });
}

interface ApiServerOptions {
  readonly clock: Clock;
  /** @defaultValue 0, a free one */
  readonly port?: number | undefined;
  /** Gives the answer to `/metrics`. @defaultValue none: it is passed on as any other path */
  readonly metrics?: (() => readonly MetricFamily[]) | undefined;
}

/**
 * Listens for the clients of a proxy. Nobody needs a token: the one that a client shows is for the upstream. Pages of other sites are refused.
 * @throws Error when the port cannot be had.
 */
export function startApiServer(proxy: ApiProxy, { clock, port, metrics }: ApiServerOptions): Promise<HttpServer> {
  return startHttpServer({
    clock,
    port,
    holdsProcess: true,
    // A large body is passed on as fast as the upstream takes it.
    body: { silenceMs: 30_000, wholeMs: Number.POSITIVE_INFINITY },
    answer(request, response) {
      if (metrics !== undefined && asksForMetrics(request)) return sendMetrics(request, response, metrics());
      return proxy.answer(request, response);
    },
    // Codex asks for a WebSocket first, and takes this alone as "ask by HTTP".
    upgrade: (_request, socket) => endUpgrade(socket, '426 Upgrade Required', ['Upgrade: HTTP/1.1']),
  });
}
