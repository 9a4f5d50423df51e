import type { PageTable } from './pageTable.mjs';

export function readReasons(): Readonly<Record<string, string>>;
export function reasonsPage(): PageTable;
