// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { classify } from './classify.ts';
export { read, readInteger, readString } from './errorChain.ts';
export { hintIn } from './exitCodes.ts';
export {
  AttemptError,
  type EffectOutcome,
  type Failure,
  type FailureFacts,
  type FailureKind,
  type FailureReason,
  IntegrationError,
  type Outcome,
  failureKinds,
  failureReasons,
  ruleReasons,
} from './failure.ts';
export { isRetryable, leavesEffectOpen, mayRepeat } from './repetition.ts';
export { risks, syntheticResult } from './syntheticResult.ts';
export { messageOf } from './thrown.ts';
export { isTimeoutReason } from './timeoutReason.ts';
