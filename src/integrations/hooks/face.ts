// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export type { HookCommand } from './commandHook.ts';
export { type HookOptions, hookCommandKeys, hookKeys } from './superviseHook.ts';
