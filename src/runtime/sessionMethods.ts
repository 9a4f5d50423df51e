import type { Methods } from '../control/serveClient.ts';
import { noteIn } from '../policy/operatorOrder.ts';
import { checkName } from '../policy/options.ts';
import type { SupervisedSession } from '../sessions/session.ts';
import { nameIn } from './liveRuntime.ts';

/** What the control socket takes about a session: `name` is its id, `target` what of it is meant. Each answers with an `OrderResult`. */
export function sessionMethods(sessionOf: (id: string) => SupervisedSession): Methods {
  return {
    fire: (params) => sessionOf(nameIn(params)).fire(targetIn(params), noteIn(params)),
    stop_retrying: (params) => sessionOf(nameIn(params)).stopRetrying(targetIn(params), noteIn(params)),
    cancel: (params) => sessionOf(nameIn(params)).cancel(optionalTarget(params), noteIn(params)),
    send_again: (params) => sessionOf(nameIn(params)).sendAgain(targetIn(params), noteIn(params)),
    drop: (params) => sessionOf(nameIn(params)).drop(targetIn(params), noteIn(params)),
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
