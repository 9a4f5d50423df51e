/** Effect of a call on the world: nothing, the same however often, or something each time. */
export type Effect = 'readOnly' | 'idempotent' | 'mutating';

/** All effects, for checks. */
export const effects: readonly Effect[] = ['readOnly', 'idempotent', 'mutating'];

/**
 * Failed attempts by what they leave open, from the safest to repeat to the least safe. `refused`: nothing was done; the other side said no, or was never
 * reached. `broken`: the connection broke, or the other side ended with an error of its own (500). `lost`: nothing came back; our own limit passed, or the
 * process died.
 */
export type RepeatAfter = 'refused' | 'broken' | 'lost';

/** All of them, each less safe to repeat after than the one before. */
export const repeatChoices = ['refused', 'broken', 'lost'] as const satisfies readonly RepeatAfter[];
