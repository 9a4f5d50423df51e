// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { failedExit } from './exit.ts';
export { type RootSupervisor, createRootSupervisor } from './supervisor.ts';
export type { TreeNode } from './tree.ts';
export { treeText } from './treeText.ts';
