// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type Span, doubledMember, elementSpans, memberCounts, memberSpan, replaced, withId } from './jsonSpans.ts';
export {
  type McpAnswer,
  type McpId,
  type McpMessage,
  type McpNotification,
  type McpParams,
  type McpRequest,
  fieldsOf,
  idKey,
  messagesOf,
  readMessage,
} from './message.ts';
export {
  ProgressMark,
  type ToolAnnotations,
  annotatedEffect,
  changedMethod,
  claimedVersion,
  isModern,
  lists,
  namedBy,
  subscriptionField,
  versionField,
  wantsChanges,
} from './methods.ts';
export { type McpTask, type TaskChoice, TaskTools, taskChoices, takesTasks, taskIn } from './tasks.ts';
export { tasksExtension, tasksPath, valueAt, withTasks } from './tasks.ts';
export { exactInput } from './exactInput.ts';
export { readResultTool, sizeCharsOf } from './largeResult.ts';
export { failureIn } from './toolFailure.ts';
