/** The id of the watchdog's rule on a turn. */
export const turnRule = (turn: number): string => `turn-${turn}`;

/** The id of the rule that leaves a turn behind which was told to end. */
export const releaseRule = (turn: number): string => `turn-${turn}:release`;

/** The id of the watchdog's rule on a call. */
export const watchdogRule = (call: string): string => `${call}:watchdog`;

/** The id of a rule of a call, from the one that it has there. */
export const callRule = (call: string, rule: string): string => `${call}:${rule}`;
