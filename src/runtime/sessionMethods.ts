import type { Methods } from '../control/serveClient.ts';
import { noteIn, type OrderResult } from '../policy/operatorOrder.ts';
import { checkName } from '../policy/options.ts';
import type { SupervisedSession } from '../sessions/session.ts';
import type { FactRedactor } from '../redaction/redactFact.ts';
import { nameIn } from './liveRuntime.ts';

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
    fire: about((session, params) => session.fire(targetIn(params), noteIn(params))),
    stop_retrying: about((session, params) => session.stopRetrying(targetIn(params), noteIn(params))),
    cancel: about((session, params) => session.cancel(optionalTarget(params), noteIn(params))),
    send_again: about((session, params) => session.sendAgain(targetIn(params), noteIn(params))),
    drop: about((session, params) => session.drop(targetIn(params), noteIn(params))),
  };
}

/** @throws TypeError or RangeError when there is none. */
function targetIn(params: unknown): string {
  return checkName('target', (params as { target?: unknown } | null | undefined)?.target);
}

function optionalTarget(params: unknown): string | undefined {
  const given = (params as { target?: unknown } | null | undefined)?.target;
  return given === undefined ? undefined : checkName('target', given);
}
