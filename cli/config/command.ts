import { defineCommand } from '../command.ts';
import { configOptions } from './options.ts';

/** `unwedge config`; only its options are here, so that asking for help loads no schema. */
export const config = defineCommand({
  name: 'config',
  summary: 'what is configured, where each value comes from, and what is wrong with a file',
  usage: 'config [--print [--all] | --check FILE | --schema] [--config FILE] [--openclaw FILE] [--json]',
  details: [
    'Reads what `loadConfig` reads: unwedge.config.mjs, .js or .json in the working directory (or --config FILE, or UNWEDGE_CONFIG) and',
    'the variables UNWEDGE_…, and says of each value where it comes from. A module is run. Secrets are not shown.',
    'The variable of a key is UNWEDGE_ and its path in capitals without Ms: alerts.windowMs is UNWEDGE_ALERTS_WINDOW; but store is UNWEDGE_DB.',
    'Lists, and policies of a name, have none. --json names that of each key, --schema too.',
    '--check judges FILE alone, without the environment; of `mcpServers` it names the variables that have to be set where FILE is used.',
    'A server that cannot be used is named and left out, here as at the start, while another one or an agent is left: that is in order.',
    'Exit codes: 0 in order, 1 something is wrong with the configuration (all of it on stderr, a line each), 2 wrong usage.',
  ].join('\n'),
  options: configOptions,
  run: async (args, io) => (await import('./configCommand.ts')).configCommand(args, io),
});
