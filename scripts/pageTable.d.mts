export interface PageTable {
  readonly is: string;
  readonly shouldBe: string;
  /** Puts the table as it should be into the page. */
  write(): void;
}

export function tableIn(
  place: { readonly page: string; readonly begin: string; readonly end: string },
  shouldBe: string,
): PageTable;
