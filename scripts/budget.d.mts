/** Lines that a room may have, and why its row was raised last. */
export interface BudgetRow {
  readonly lines: number;
  readonly why: string;
}

export const slack: number;
export function budget(): Record<string, BudgetRow>;
export function linesOfRooms(): Record<string, number>;
export function misfits(rows?: Record<string, BudgetRow>, lines?: Record<string, number>): string[];
