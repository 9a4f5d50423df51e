import { type HttpServerOptions, startHttpServer } from '../server/httpServer.ts';
import { createDashboard, type DashboardOptions } from './dashboard.ts';

export interface DashboardServerOptions
  extends Omit<DashboardOptions, 'origin'>,
    Pick<HttpServerOptions, 'port' | 'holdsProcess'> {}

export interface DashboardServer {
  readonly port: number;
  /** Address of the page; its token, behind the `#`, is good for one browser. */
  readonly url: string;
  /** Stops listening and lets every viewer go. Never rejects. */
  close(): Promise<void>;
}

/**
 * Serves the dashboard on the loopback address, and nothing else. A request from another site gets 403.
 * @throws Error when the port cannot be had.
 */
export async function startDashboardServer(options: DashboardServerOptions): Promise<DashboardServer> {
  let origin = '';
  const dashboard = createDashboard({ ...options, origin: () => origin });
  const server = await startHttpServer({
    ...{ clock: options.clock, port: options.port, holdsProcess: options.holdsProcess, maxConnections: 200 },
    answer: (request, response) => dashboard.answer(request, response),
    // A link to the page gives nothing away: it shows nothing without the cookie.
    isLinked: true,
  });
  origin = server.origin;
  return {
    port: server.port,
    get url() {
      return dashboard.url;
    },
    async close() {
      dashboard.close();
      await server.close();
    },
  };
}
