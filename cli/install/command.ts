import { defineCommand } from '../command.ts';
import { installOptions } from './options.ts';

/** `unwedge install`; only its options are here, so that asking for help loads no parser. */
export const install = defineCommand({
  name: 'install',
  summary: 'put unwedge in front of the MCP servers and hooks that an agent has configured',
  usage: 'install claude|codex|cursor|vscode|openclaw|--all [--dry-run] [--project] [--codex-hooks] [--undo] [--json]',
  details: [
    'A server on stdio is started by `unwedge mcp --` from then on, a command hook by `unwedge hook --`. Nothing else in the files changes: not a',
    'comment, not a space. Servers that are remote, disabled or denied by a policy are left, and so is what is not understood; it says why.',
    "Without --project only the user's own files are changed. --dry-run shows what would change and writes nothing.",
    '--undo takes out what was put in, also when the files were edited since. Do it before you remove unwedge: without it, wrapped servers do',
    'not start.',
    'Exit codes: 0 done, or nothing to do; 1 a file could not be changed; 2 wrong usage.',
  ].join('\n'),
  operands: ['[AGENT]'],
  options: installOptions,
  run: async (args, io) => (await import('./installCommand.ts')).installCommand(args, io),
});
