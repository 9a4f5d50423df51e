import type { Args, OptionSpecs } from '../command.ts';

/** The options of `unwedge install`. */
export const installOptions = {
  all: { kind: 'flag', help: 'every agent that has a configuration here' },
  project: { kind: 'flag', help: 'files of the project too, which others may share' },
  'codex-hooks': { kind: 'flag', help: 'hooks of Codex too: it does not run them until you trust them anew in /hooks' },
  'dry-run': { kind: 'flag', help: 'show what would change, as a diff without secrets, and write nothing' },
  undo: { kind: 'flag', help: 'take unwedge out again' },
} as const satisfies OptionSpecs;

/** Arguments of `unwedge install`. */
export type InstallArgs = Args<typeof installOptions>;
