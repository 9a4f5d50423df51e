import type { Clock } from '../policy/clock.ts';
import { endUpgrade, type LoopbackServer, startLoopbackServer } from '../server/loopbackServer.ts';
import type { ApiProxy } from './apiProxy.ts';

/**
 * Listens for the clients of a proxy. Nobody needs a token: the one that a client shows is for the upstream. Pages of other sites are refused.
 * @throws Error when the port cannot be had.
 */
export function startApiServer(
  proxy: ApiProxy,
  { clock, port }: { readonly clock: Clock; readonly port?: number | undefined },
): Promise<LoopbackServer> {
  return startLoopbackServer({
    clock,
    port,
    holdsProcess: true,
    answer: (request, response) => proxy.answer(request, response),
    // Codex asks for a WebSocket first, and takes this alone as "ask by HTTP".
    upgrade: (_request, socket) => endUpgrade(socket, '426 Upgrade Required', ['Upgrade: HTTP/1.1']),
  });
}
