import type { AskedRuntime } from './askRuntimes.ts';

/** Finds those that ended without a word. The successor of one that died has taken over what it left. */
export function deadRuntimes<T>(asked: readonly AskedRuntime<T>[]): readonly AskedRuntime<T>[] {
  const running = new Set(asked.flatMap(({ answer, runtime }) => (answer === undefined ? [] : [runtime.name])));
  return asked.filter(({ runtime }) => runtime.liveness === 'dead' && !running.has(runtime.name));
}

/** Tells whether a runtime of this name is that of a command which somebody started and which keeps nothing that waits. */
export const isOfClient = (name: string): boolean => /^unwedge (?:mcp|run|agent|api) /.test(name);
