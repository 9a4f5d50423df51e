import type { Attempt, AttemptedCall } from './attempt.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import { limitNamed } from './limits.ts';

/** The part of a call path's state that decides about silent attempts. */
export interface SilenceScope {
  readonly options: Pick<CallPathOptions<never, never>, 'whenAlive' | 'onSilence'>;
  readonly circuit: { readonly link: { readonly closed: boolean } };
}

/**
 * Tells whether a silent attempt goes on at its idle limit while the other side is asked for a sign of life: one that is found dead ends it by its crash. A
 * limit that the caller shortened holds, and an open circuit is no time to wait.
 */
export function goesOnWhenSilent({ options, circuit }: SilenceScope, attempt: Attempt<AttemptedCall>): boolean {
  if (options.whenAlive !== 'wait' || options.onSilence === undefined) return false;
  return circuit.link.closed && !limitNamed('idle_timeout', attempt).isShortened;
}
