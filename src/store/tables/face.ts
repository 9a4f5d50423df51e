// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { alertIn } from './alerts.ts';
export {
  breakerRow,
  claimProbe,
  countFailures,
  pauseBreaker,
  releaseProbe,
  saveBreaker,
  setFailures,
} from './breakers.ts';
export { childIn, children, insertChild } from './children.ts';
export {
  endBy,
  endIn,
  lastNumbers,
  letterBy,
  letterIn,
  madeOnce,
  madeOnceIn,
  readDeadLetter,
  readLeft,
  readPast,
  settleDead,
  settleLeft,
} from './claims.ts';
export { declared, madeOnceIndex, type TableName } from './declared.ts';
export { readFlights, readPolicies, upsertPolicy } from './flights.ts';
export {
  askCall,
  buried,
  callRow,
  finishMessage,
  firstOfKey,
  isForgettable,
  noteVerdict,
  openCall,
  postMessage,
  putBackMessage,
  resent,
  settleCall,
  takeMessage,
} from './ledger.ts';
export { endInStore, questionOfLink, questionReads, questionsOfTools } from './questions.ts';
export { KeptRuntimes, runIn, runs } from './runtimes.ts';
export { columnsInFile, tablesOnServer } from './schema.ts';
export { figuresIn, keepStatistic, lockStatistic, readStatistics, readTotals } from './statistics.ts';
export { TableStore } from './tableStore.ts';
