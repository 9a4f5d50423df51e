import { type KeyData, type Keys, text } from '../policy/optionKeys.ts';
import { gatewayKeys } from '../runtime/runtimeOptions.ts';

const { help, variable } = gatewayKeys.store;

const inFiles = Object.entries<KeyData>(gatewayKeys).filter(([, { codeOnly }]) => codeOnly !== true);

const keys: Keys = {
  $schema: text({ help: 'Where the JSON schema is, for editors.' }),
  ...Object.fromEntries(inFiles),
  store: text({ default: ':memory:', help, variable }),
};

/** The whole configuration: the options of a gateway, but for those that only code can give. */
export const configTable: Extract<KeyData, { kind: 'object' }> = {
  kind: 'object',
  keys,
  help: 'The configuration of unwedge.',
};
