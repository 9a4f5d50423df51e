import { writeSync } from 'node:fs';

// Loaded before everything else, and loads nothing: what it tells of is that something could not be loaded.

/** Exit codes of commands for an error of ours, where that is not 1. */
const codes: Readonly<Record<string, number>> = {
  acp: 2,
  agent: 125,
  doctor: 2,
  drill: 2,
  mcp: 2,
  repair: 2,
  run: 125,
};

/** The exit code of a command whose program could not be loaded. */
export const unloadedCode = (command: string | undefined): number =>
  (command !== undefined && Object.hasOwn(codes, command) ? codes[command] : undefined) ?? 1;

/** Loads a part of this program; ends this process by a line on stderr where that cannot be, as by a process that is out of descriptors. */
export async function loadOrEnd<T>(load: () => Promise<T>, exitCode: number): Promise<T> {
  try {
    return await load();
  } catch (error) {
    try {
      writeSync(2, `unwedge: It could not be loaded: ${error instanceof Error ? error.message : String(error)}\n`);
    } catch {
      // Nobody reads it; the exit code says it too.
    }
    return process.exit(exitCode);
  }
}
