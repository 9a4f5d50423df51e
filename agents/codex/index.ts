export { codexKind, type CodexMethods, connectCodex, type ConnectCodexOptions } from './codex.ts';
export type { CodexApprover, CodexOptions, CodexWireLine } from './codexOptions.ts';
export type {
  Codex,
  CodexHealth,
  CodexInput,
  CodexInputPart,
  CodexNotification,
  CodexNotifications,
  CodexRequestOptions,
  CodexServer,
  CodexState,
  CodexStreamOptions,
  CodexThread,
  CodexThreadOptions,
  CodexTurn,
  CodexTurnEvent,
  CodexTurnOptions,
  CodexTurnResult,
} from './codexTypes.ts';
export type { CodexItem } from './protocol/items.ts';
export type { CodexTokens } from './protocol/notifications.ts';
export type { CodexQuestion, CodexQuestionKind, CodexReply } from './protocol/questions.ts';
export type { CodexThreadInfo, CodexThreadList, CodexTurnRecord } from './protocol/threads.ts';
