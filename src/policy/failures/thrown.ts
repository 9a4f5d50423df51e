import { readString } from './errorChain.ts';

/** Returns what anything thrown says, for people. Never throws: getters of foreign errors may. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'an error that cannot be shown';
  }
}

/** The stack of an error, where it has one. Never throws. */
export function stackOf(error: unknown): string | undefined {
  return readString(error, 'stack');
}
