// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type BreakerStates, breakerIn } from './breakers.ts';
export type { Committer, Write } from './committer.ts';
export { type Contents, contentsOf } from './contentsOf.ts';
export {
  type Column,
  type Row,
  type Statement,
  type Value,
  columnsOf,
  insertInto,
  statement,
  written,
} from './dialect.ts';
export { childMarks, isAbout, subjectsOf } from './eventSubjects.ts';
export { type EventQuery, type EventRow, checkQuery, childOf, parseMetadata, searched, wentWrong } from './events.ts';
export { type FlightQuery, flightText, gatewayOf, policyMark, withInfinity } from './flights.ts';
export { openStore } from './openStore.ts';
export type { OutageParts, Trouble } from './outage.ts';
export { type Environment, installDirectory, signInDirectory, storePath, storePlace } from './paths.ts';
export { resultsDirectory } from './paths.ts';
export { type Prunable, Pruner, passEveryMs, pruned } from './pruner.ts';
export { ResultFiles } from './resultFiles.ts';
export { type RateStates, bucketOf, forgetRatesMs, levelsIn } from './rates.ts';
export { type StoredEvent, categories, factOf, storedEvent } from './record.ts';
export { type JudgedRuntime, type RuntimeIdentity, type RuntimeRow, isElsewhere, judgeRuntimes } from './runtimes.ts';
export {
  historyOf,
  isDeadLetter,
  letterWhy,
  lostCall,
  messageIn,
  nameOf,
  toCallRow,
  toMessageRow,
} from './sessionRows.ts';
export type { Store } from './store.ts';
export { StoreUnavailableError } from './storeOption.ts';
export {
  type Read,
  type RowStep,
  type Step,
  type Tables,
  type TransactOptions,
  type Work,
  step,
  valuesOf,
} from './work.ts';
export { WriteQueue } from './writeQueue.ts';
