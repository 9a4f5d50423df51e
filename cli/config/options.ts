import type { Args, OptionSpecs } from '../command.ts';

/** The options of `unwedge config`. */
export const configOptions = {
  print: { kind: 'flag', help: 'print what was set, and by whom; what is done without another option' },
  all: { kind: 'flag', help: 'print the defaults of what was not set too' },
  check: { kind: 'text', value: 'FILE', help: 'say what is wrong with FILE, or that nothing is' },
  schema: { kind: 'flag', help: 'print the JSON schema of a configuration file' },
  config: {
    kind: 'text',
    value: 'FILE',
    help: 'the configuration file; else UNWEDGE_CONFIG, else the one of this directory',
  },
  openclaw: { kind: 'text', value: 'FILE', help: 'an openclaw.json whose gateway.toolCallRetry is read too' },
} as const satisfies OptionSpecs;

/** Arguments of `unwedge config`. */
export type ConfigArgs = Args<typeof configOptions>;
