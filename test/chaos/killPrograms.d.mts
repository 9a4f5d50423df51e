/** Sums and violations of programs that were harmed. */
export interface ProgramsReport {
  readonly seed: number;
  readonly rounds: number;
  readonly requests: number;
  readonly answered: number;
  /** Requests that were open as their program was ended. */
  readonly excused: number;
  /** Longest time from the end of a program to the end of the last process that it had started, in ms. */
  readonly slowestEndMs: number;
  /** Rounds in which that took more than the 2 s that are promised, on whatever machine. */
  readonly late: number;
  /** Rounds by program and harm. */
  readonly by: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

export function killPrograms(options: {
  readonly times: number;
  readonly seed: number;
  /** Programs, by name. @defaultValue all */
  readonly only?: readonly string[];
  /** The harm to be done, alone. @defaultValue all, as chance says */
  readonly harm?: string;
  readonly progress?: (rounds: number, answered: number) => void;
}): Promise<ProgramsReport>;
