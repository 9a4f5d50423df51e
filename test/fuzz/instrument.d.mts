/** A plugin of the bundler, whose modules tell the words they look for as they are loaded. */
export function instrument(isOurs: (id: string) => boolean): {
  readonly plugin: { transform(code: string, id: string): { readonly code: string } | null };
  /** Number of its counters. */
  readonly count: () => number;
};
