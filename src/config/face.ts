// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { parseJson } from './configFile.ts';
export type { ConfigOptions, LoadedConfig } from './configTypes.ts';
export { type EffectiveValue, effectiveValues, isImplied, isPattern, valueText } from './effective.ts';
export { environmentLayers } from './environment.ts';
export { type Teller, fileProblem, toldProblem } from './issues.ts';
export { createLocator } from './jsonPositions.ts';
export { configJsonSchema } from './jsonSchema.ts';
export { ConfigError, type ConfigProblem, sourceText } from './problems.ts';
export { readConfig } from './readConfig.ts';
