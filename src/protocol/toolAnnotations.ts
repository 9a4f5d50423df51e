import type { Effect } from '../policy/effects.ts';

/** Hints of an MCP server on a tool, as far as they bear on repeating a call. A hint: nobody holds the server to it. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
}

/**
 * The effect a tool's annotations stand for; undefined when they say nothing of it. A tool that says it changes something and not
 * that it may be repeated is taken at its word: what only adds would add twice.
 */
export function annotatedEffect(annotations: ToolAnnotations | undefined): Effect | undefined {
  if (annotations === undefined) return undefined;
  const { readOnlyHint, idempotentHint, destructiveHint } = annotations;
  if (readOnlyHint === true) return 'readOnly';
  if (idempotentHint === true) return 'idempotent';
  const said = [readOnlyHint, idempotentHint, destructiveHint].some((hint) => hint !== undefined);
  return said ? 'mutating' : undefined;
}
