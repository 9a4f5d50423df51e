import type { Command } from './command.ts';
import { unknown } from './errors.ts';

interface Entry {
  readonly summary: string;
  load(): Promise<Command>;
}

/** Every command, loaded when it is asked for. */
export const commands: Readonly<Record<string, Entry>> = {
  demo: {
    summary: 'crash, hang and throttle real counterparties and watch every call end',
    load: async () => (await import('./demoCommand.ts')).demo,
  },
  events: {
    summary: 'what was recorded: failures, crashes, restarts, sessions',
    load: async () => (await import('./events.ts')).events,
  },
  status: {
    summary: 'each integration with its circuit, failures and last error',
    load: async () => (await import('./status.ts')).status,
  },
};

/** @throws UsageError that names the nearest known command. */
export async function loadCommand(name: string): Promise<Command> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined) throw unknown('command', name, Object.keys(commands), 'unwedge --help');
  return entry.load();
}
