import type { Clock } from '../../src/policy/clock.ts';
import type { MetricFamily } from '../../src/policy/metrics.ts';
import { endUpgrade, type HttpServer, startHttpServer } from '../../web/server/httpServer.ts';
import { asksForMetrics, sendMetrics } from '../../web/server/sendMetrics.ts';
import type { ApiProxy } from './apiProxy.ts';

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
