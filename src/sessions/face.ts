// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export type { Acceptance } from './acceptance.ts';
export { noLetter } from './deadLetterOrders.ts';
export { resendKey } from './firstMessage.ts';
export type { HistoryEntry } from './history.ts';
export type { Asked } from './inbox.ts';
export { type Message, type NamedMessage, messageId, messageNamed } from './mailbox.ts';
export type { Session } from './session.ts';
export { SupervisedSession } from './supervisedSession.ts';
export type { IncomingMail, MailReceiver, Mailed, OldestMail, OutgoingMail, SessionMail } from './sessionMail.ts';
export { type MessageHandler, checkSessionOptions, defaultMaxDeliveries } from './sessionOptions.ts';
export {
  type CallRecovery,
  type Claim,
  type DeadLetterReason,
  type Kept,
  type LostCall,
  type MessageEnd,
  type Move,
  type Past,
  type Recovered,
  type RecoveryLimits,
  type Resend,
  type SessionLedger,
  type SessionStore,
  type StoredCall,
  type StoredDeadLetter,
  type StoredEnd,
  type StoredMessage,
  type StoredVerdict,
  type Takeable,
  type TakenMail,
  maxKeys,
} from './sessionStore.ts';
export { keptOutcome, outcomeIn, outcomeToJson } from './storedOutcome.ts';
export type { ToolPort } from './toolPort.ts';
export type { ToolRequest } from './toolRequest.ts';
export type { ToolResult } from './toolResult.ts';
export type { Turn } from './turn.ts';
export { sessionFailure } from './turnEnds.ts';
export { type EndedCallWhy, type LayerWhy, type RuleWhy, type SessionWhy, type ToolCallWhy, layersOf } from './why.ts';
