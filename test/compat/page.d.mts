/** A row that was run, as the page shows it. */
export interface CompatResult {
  readonly id: string;
  /** What was installed, with its version: `node 24.21.0, vitest 5.1.1`. */
  readonly with: string;
  readonly what: string;
  readonly works: boolean;
  readonly ok: boolean;
  readonly note: string;
}

export function readRecorded(): readonly CompatResult[];
export function tableOf(results: readonly CompatResult[]): string;
export function readPage(): { readonly text: string; readonly table: string };
export function putPage(results: readonly CompatResult[]): void;
