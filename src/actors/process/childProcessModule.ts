/** Node's module of processes, loaded at its first use: that takes as long as a quarter of xstate, and most hosts start no process. */
export const childProcessModule = (): typeof import('node:child_process') =>
  process.getBuiltinModule('node:child_process');
