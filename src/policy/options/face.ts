// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type HostLogger, checkLogger, loggerKey } from './hostLogger.ts';
export { isAddress } from './httpKeys.ts';
export {
  type Given,
  type Key,
  type KeyData,
  type Keys,
  type KeysOf,
  type Rule,
  type Tell,
  type Values,
  anyObject,
  anything,
  boolean,
  byName,
  callback,
  choice,
  duration,
  either,
  having,
  integer,
  list,
  name,
  number,
  section,
  signal,
  test,
  text,
  variables,
} from './optionKeys.ts';
export { type OptionProblem, complaintAt, pathText } from './optionProblem.ts';
export { checkFunction, checkInteger, checkName, checkNumber, checkObject, checkText, show } from './options.ts';
export { collectProblems, readGiven, readOptions, readValue } from './readOptions.ts';
