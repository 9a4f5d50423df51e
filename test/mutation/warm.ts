/** A change to be tried, as the process of Stryker asks a worker of Vitest that has all modules loaded. */
export interface Job {
  readonly mutant: string;
  readonly hitLimit: number | undefined;
  /** By file, the full names of the tests; without a name, all of the file. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
  /** Made while modules are loaded: they are loaded again for it. */
  readonly whileLoading: boolean;
}

/** The answer of the worker. */
export type Played =
  | { readonly end: 'ready' }
  | { readonly end: 'survived'; readonly count: number }
  | {
      readonly end: 'killed';
      readonly count: number;
      readonly file: string;
      readonly test: string;
      readonly message: string;
    }
  /** Its condition runs thousands of times as often as without the change. */
  | { readonly end: 'looped' }
  /** The test that failed does so without the change as well: an earlier change has left something behind. */
  | { readonly end: 'contaminated' };

export const channelName = 'unwedge-mutation';
