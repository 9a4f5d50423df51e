import type { Snapshot } from 'xstate';

/**
 * Why a child ended: by itself (`normal`), because it was asked to (`shutdown`), because it did not end within its
 * limit or was not to be asked (`killed`), or because it threw or said so (`failure`).
 */
type ExitReason = 'normal' | 'shutdown' | 'killed' | 'failure';

/** End of one incarnation of a child. */
export interface Exit {
  readonly reason: ExitReason;
  /** Value that was thrown, rejected or handed to {@link failedExit}; with `failure` only. */
  readonly error?: unknown;
  /** It is begun anew, which is no restart; with `normal` only. */
  readonly renews?: true;
}

/** The output of an actor that ends by itself and wants this to count as a failure. */
interface FailedExit {
  readonly type: 'unwedge.failed_exit';
  readonly error: unknown;
}

/**
 * The output with which a child that reaches its final state counts as failed.
 *
 * @example
 * output: ({ context }) => failedExit(context.lastError)
 */
export function failedExit(error: unknown): FailedExit {
  return { type: 'unwedge.failed_exit', error };
}

const renewed = Object.freeze({ type: 'unwedge.renewed_exit' });

/**
 * The output with which a child ends to be begun anew, as nothing has failed: such as a session that its server forgot. It is started
 * after the wait of its series, and counts as no restart, in no window.
 */
export function renewedExit(): { readonly type: 'unwedge.renewed_exit' } {
  return renewed as { readonly type: 'unwedge.renewed_exit' };
}

/** Tells whether an actor's output came from {@link failedExit}. */
export function isFailedExit(output: unknown): output is FailedExit {
  return (
    typeof output === 'object' && output !== null && (output as Partial<FailedExit>).type === 'unwedge.failed_exit'
  );
}

/**
 * Reads the exit of an actor that is over from its last snapshot.
 * @param asked - set when the supervisor ended it; a final state reached then is no `normal` end.
 */
export function exitOf(snapshot: Snapshot<unknown>, asked: 'shutdown' | 'killed' | undefined): Exit {
  if (snapshot.status === 'error') return { reason: 'failure', error: snapshot.error };
  if (snapshot.status === 'done') {
    if (isFailedExit(snapshot.output)) return { reason: 'failure', error: snapshot.output.error };
    if (asked === undefined && snapshot.output === renewed) return { reason: 'normal', renews: true };
    return { reason: asked ?? 'normal' };
  }
  return { reason: asked ?? 'shutdown' };
}
