// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { AcpCalls } from './calls.ts';
export { failureOfPrompt } from './end.ts';
export {
  actsByClient,
  asksPerson,
  cancelledCode,
  isRepeatable,
  isSetting,
  noteField,
  sessionIn,
  sessionOpeners,
  waysBack,
} from './methods.ts';
export { TextRepeats } from './repeats.ts';
export { isAsked, isNotice, threadSign } from './signs.ts';
export { AcpTurn, isConversation } from './turn.ts';
