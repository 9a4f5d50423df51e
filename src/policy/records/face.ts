// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export type { OpenAlert } from './alertRecord.ts';
export { alertText, nextOfAlert, times } from './alertText.ts';
export {
  type BreakerCause,
  type CountedFailure,
  causeText,
  causeWithout,
  openText,
  readBreakerCause,
} from './breakerCause.ts';
export { type CallFiguresRow, type CallTotals, addFigures } from './callFigures.ts';
export {
  type Quantiles,
  type ReportEntry,
  type ReportLine,
  type ReportStep,
  rateText,
  reportLines,
  reportOf,
  reportSpan,
} from './callReport.ts';
export type { ChildRecord, RegisterChild, RegisteredChild } from './childRecord.ts';
export type {
  AttemptRow,
  CallEndRow,
  FlightOfCall,
  FlightReason,
  FlightRecord,
  FlightRow,
  InputRow,
  KeptPolicy,
  PendingRow,
  PolicyRow,
  RecordedFailure,
  SessionLimits,
} from './flight.ts';
export { lastMet } from './lastMet.ts';
export { type MetricFamily, metricsOf, renamed } from './metrics.ts';
export { metricsBody, metricsText } from './metricsText.ts';
export { type PersistedBreaker, neverOpened } from './persistedBreaker.ts';
export { choicesText } from './formFit.ts';
export {
  type PersonAnswer,
  type Question,
  type QuestionForm,
  answerable,
  answerResult,
  questionText,
  shownQuestion,
} from './question.ts';
export { StallRecord } from './stallRecord.ts';
