import { type Args, type OptionSpecs, flag, text, defineForm } from '../command.ts';

/** The options of `unwedge config`. */
export const configOptions = {
  print: flag('print what was set, and by whom; what is done without another option'),
  all: flag('print the defaults of what was not set too'),
  check: text('FILE', 'say what is wrong with FILE, or that nothing is'),
  schema: flag('print the JSON schema of a configuration file'),
  config: text('FILE', 'the configuration file; else UNWEDGE_CONFIG, else the one of this directory'),
  openclaw: text('FILE', 'an openclaw.json whose gateway.toolCallRetry is read too'),
} as const satisfies OptionSpecs;

/** Arguments of `unwedge config`. */
export type ConfigArgs = Args<typeof configOptions>;

/** `unwedge config`; only its options are here, so that asking for help loads no schema. */
export const form = defineForm({
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
});
