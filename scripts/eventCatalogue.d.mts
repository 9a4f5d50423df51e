import type { PageTable } from './pageTable.mjs';

export interface CatalogueEntry {
  readonly name: string;
  /** When it fires; empty where the types do not say. */
  readonly when: string;
  readonly fields: readonly { readonly name: string; readonly isOptional: boolean; readonly type: string }[];
  /** `category/event_type`; undefined where it is not stored. */
  readonly record: string | undefined;
}

export function readCatalogue(): CatalogueEntry[];
export function catalogueTable(): string;
export function cataloguePage(): PageTable;
