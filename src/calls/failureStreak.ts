/** The failures in a row that a breaker goes by, wherever they are counted. No method may throw. */
export interface FailureStreak {
  /** A new incarnation of the machine takes over. */
  begin(): void;
  /** Counts a failure. Returns how many there are in a row, this one included; 0 when it is not one of the circuit as it stands. */
  failed(): number;
  /** An answer came, or the circuit closed. */
  end(): void;
}

/** A count of this process alone; a new incarnation starts anew. */
export function createStreak(): FailureStreak {
  let failures = 0;
  const end = (): void => {
    failures = 0;
  };
  return { begin: end, failed: () => ++failures, end };
}
