import { onTestFinished } from 'vitest';
import { workflowKind } from '../../workflow/workflow.ts';
import { createGateway, type GatewayOptions } from '../../src/index.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { deferred } from '../support/deferred.ts';

/** Of a call that was not begun, as the gateway stops or is stopped. */
export const refused = {
  ok: false,
  failure: { kind: 'cancelled', reason: 'stopped', outcome: 'not_started', attempts: 0 },
};
/** Of a call that was in flight when its time was over. */
export const cut = { ok: false, failure: { kind: 'cancelled', reason: 'stopped', outcome: 'unknown', attempts: 1 } };

export function makeGateway(options: GatewayOptions = {}) {
  const clock = new SimulatedClock();
  const gateway = createGateway({ kinds: [workflowKind], clock, random: () => 0.5, ...options });
  onTestFinished(() => gateway.stop());
  return { gateway, clock };
}

/** A gateway with a call that is in flight until the test answers it. */
export async function startBusy() {
  const { gateway, clock } = makeGateway();
  const answer = deferred<string>();
  let asked = 0;
  const kb = gateway.integration('kb', { effect: 'readOnly' }, () => {
    asked++;
    return answer.promise;
  });
  await gateway.start();
  const call = kb.call('under way');
  return { gateway, clock, kb, call, answer, asked: () => asked };
}
