import { loadPeer } from '../peers/load.ts';
import type { Cockatiel, CockatielPolicy } from '../peers/types.ts';
import { type Contender, policy, type Setup } from './contender.ts';

/** cockatiel as its readme composes it, and once more without the abort of the attempt's signal after each success. */
export async function loadCockatiel(): Promise<readonly Contender[] | undefined> {
  const peer = await loadPeer<Cockatiel>('cockatiel');
  if (peer === undefined) return undefined;
  const contender = (name: string, about: string, abortOnReturn: boolean): Contender => ({
    name,
    about: `execute() of cockatiel 4, wrap(retry, breaker, aggressive timeout)${about}`,
    dear: 1,
    hasSignal: true,
    takesSignal: true,
    start(setup) {
      const wrapped = wrapAll(peer, setup, abortOnReturn);
      const { work } = setup;
      return setup.readsSignal === true
        ? { call: (input, parent) => wrapped.execute(({ signal }) => work(input, signal), parent), stop() {} }
        : { call: (input, parent) => wrapped.execute(() => work(input), parent), stop() {} };
    },
  });
  return [
    contender('cockatiel', '', true),
    contender('cockatiel-', ' with `abortOnReturn: false`: no abort after a success', false),
  ];
}

function wrapAll(peer: Cockatiel, { waitMs, neverOpens }: Setup, abortOnReturn: boolean): CockatielPolicy {
  const { maxAttempts, attemptMs, backoffMs, maxBackoffMs, failuresInRow } = policy;
  const backoff =
    waitMs === undefined
      ? new peer.ExponentialBackoff({ initialDelay: backoffMs, maxDelay: maxBackoffMs })
      : new peer.ConstantBackoff(waitMs);
  return peer.wrap(
    // Its attempts do not count the first. One that is refused is not to be tried again.
    peer.retry(
      peer.handleWhen((error) => !peer.isBrokenCircuitError(error)),
      { maxAttempts: maxAttempts - 1, backoff },
    ),
    cockatielBreaker(peer, neverOpens === true ? 1e9 : failuresInRow),
    peer.timeout(attemptMs, { strategy: peer.TimeoutStrategy.Aggressive, abortOnReturn }),
  );
}

/** A breaker that stays open for a minute. */
export function cockatielBreaker(peer: Cockatiel, failuresInRow: number): CockatielPolicy {
  const breaker = new peer.ConsecutiveBreaker(failuresInRow);
  return peer.circuitBreaker(peer.handleAll, { halfOpenAfter: 60_000, breaker });
}
