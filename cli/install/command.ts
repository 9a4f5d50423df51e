import { type Args, type OptionSpecs, flag, defineForm, text } from '../command.ts';

/** The options of `unwedge install`. */
export const installOptions = {
  all: flag('every agent that has a configuration here'),
  project: flag('files of the project too, which others may share'),
  'codex-hooks': flag('hooks of Codex too: it does not run them until you trust them anew in /hooks'),
  guard: text('spinning', 'only the guard of `unwedge hook --guard spinning`, into hooks of the user', ['spinning']),
  'dry-run': flag('show what would change, as a diff without secrets, and write nothing'),
  undo: flag('take unwedge out again'),
} as const satisfies OptionSpecs;

/** Arguments of `unwedge install`. */
export type InstallArgs = Args<typeof installOptions>;

/** `unwedge install`; only its options are here, so that asking for help loads no parser. */
export const form = defineForm({
  usage: 'install AGENT...|--all [--dry-run] [--project] [--codex-hooks] [--guard spinning] [--undo] [--json]',
  details: [
    'Each AGENT is claude, claude-desktop, codex, cursor, vscode, copilot, gemini, opencode, goose, openclaw, zed, jetbrains or acpx.',
    'A server on stdio is started by `unwedge mcp --` from then on, a command hook by `unwedge hook --`, an agent of an editor by `unwedge acp --`.',
    'Nothing else in the files changes: not a comment, not a space. Servers that are remote, disabled or denied by a policy are left, and so is what is not understood; it says why.',
    "Without --project only the user's own files are changed. --dry-run shows what would change and writes nothing.",
    '--undo takes out what was put in, also when the files were edited since. Do it before you remove unwedge: without it, wrapped servers do',
    'not start.',
    'Exit codes: 0 done, or nothing to do; 1 a file could not be changed; 2 wrong usage.',
  ].join('\n'),
  operands: ['[AGENT]...'],
  options: installOptions,
});
