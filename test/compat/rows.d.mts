export interface CompatRow {
  readonly id: string;
  readonly what: string;
  /** What is asked of the registry, by the name of the package. */
  readonly packages: Readonly<Record<string, string>>;
  readonly works: boolean;
}

export const rows: readonly CompatRow[];
