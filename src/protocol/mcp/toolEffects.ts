import type { Effect } from '../../policy/effects.ts';
import { annotatedEffect, type ToolAnnotations } from '../toolAnnotations.ts';
import { fieldsOf, type McpParams } from './message.ts';

/** Effects of the server's tools on the world, as far as their annotations say. */
export interface ToolEffects {
  /** Learns from a page of `tools/list`; the first page of a list replaces what was known. */
  learn(params: McpParams, result: McpParams): void;
  /** Undefined when the tool is unknown or says nothing. */
  of(tool: string): Effect | undefined;
}

/** Tools that are remembered; a server has dozens. */
const mostTools = 10_000;

export function createToolEffects(): ToolEffects {
  const effects = new Map<string, Effect>();
  return {
    learn({ cursor }, { tools }) {
      if (cursor === undefined) effects.clear();
      if (!Array.isArray(tools)) return;
      for (const tool of tools.map(fieldsOf)) {
        const { name } = tool;
        const effect = annotatedEffect(fieldsOf(tool['annotations']) as ToolAnnotations);
        if (typeof name === 'string' && effect !== undefined && effects.size < mostTools) effects.set(name, effect);
      }
    },
    of: (tool) => effects.get(tool),
  };
}
