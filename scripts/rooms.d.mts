/** One room; `floor` counts from 0, the ground. */
export interface Room {
  readonly room: string;
  readonly purpose: string;
  readonly begin: string;
  /** Files to read after `begin`, in order. */
  readonly next?: readonly string[];
  readonly pure?: true | readonly string[];
  readonly floor: number;
}

export const floors: readonly (readonly Omit<Room, 'floor'>[])[];
export function roomOf(path: string): Room | undefined;
export const tops: readonly string[];
export function sourceFiles(): string[];
export function sourceOfTest(path: string): string;
export function forbiddenImports(): string[];
export function pastTheFaces(): string[];
export function facesSeenWithin(): string[];
export function made(): [path: string, text: string][];
export function outdated(): [path: string, text: string][];
