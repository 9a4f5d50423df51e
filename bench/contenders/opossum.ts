import { loadPeer } from '../peers/load.ts';
import type { Opossum, OpossumBreaker } from '../peers/types.ts';
import { type Contender, policy, type Work } from './contender.ts';

/** opossum has a breaker and a timeout, but no retry, and one AbortController for all calls of a circuit. */
export async function loadOpossum(): Promise<Contender | undefined> {
  const peer = await loadPeer<Opossum>('opossum');
  if (peer === undefined) return undefined;
  return {
    name: 'opossum',
    about: 'fire() of opossum 10: breaker and timeout; it has no retry, and no abort of one call',
    dear: 0,
    hasSignal: false,
    takesSignal: false,
    start({ work, neverOpens }) {
      const circuit = opossumCircuit(peer, work, neverOpens);
      return { call: (input) => circuit.fire(input), stop: () => circuit.shutdown() };
    },
  };
}

/** A circuit that keeps no percentiles of latencies, as none of the others does. */
export function opossumCircuit(peer: Opossum, work: Work, neverOpens?: boolean): OpossumBreaker<number> {
  return new peer.default((input) => work(input), {
    timeout: policy.attemptMs,
    errorThresholdPercentage: neverOpens === true ? 100 : 50,
    rollingPercentilesEnabled: false,
  });
}
