import type { Methods } from '../control/serveClient.ts';
import { noteIn, type OrderResult } from '../policy/operatorOrder.ts';
import type { SupervisedSession } from '../sessions/session.ts';
import type { FactRedactor } from '../redaction/redactFact.ts';
import { nameIn, optionalNameIn } from './liveRuntime.ts';

/**
 * Makes the methods of the control socket about a session: `name` is its id, `target` what of it is meant, as its why shows it. Each answers with an
 * `OrderResult`, without secrets.
 */
export function sessionMethods(sessionOf: (id: string) => SupervisedSession, redact: FactRedactor): Methods {
  const about =
    (order: (session: SupervisedSession, params: unknown) => OrderResult | Promise<OrderResult>) =>
    async (params: unknown): Promise<OrderResult> =>
      redact(await order(sessionOf(nameIn(params)), params));
  return {
    fire: about((session, params) => session.fire(nameIn(params, 'target'), noteIn(params))),
    stop_retrying: about((session, params) => session.stopRetrying(nameIn(params, 'target'), noteIn(params))),
    cancel: about((session, params) => session.cancel(optionalNameIn(params, 'target'), noteIn(params))),
    send_again: about((session, params) => session.sendAgain(nameIn(params, 'target'), noteIn(params))),
    drop: about((session, params) => session.drop(nameIn(params, 'target'), noteIn(params))),
  };
}
