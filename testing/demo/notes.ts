import type { Gateway, ToolRequest } from '../../src/index.ts';

/** Name of the tool that nothing happens to: a session that goes on can use it. */
export const notes = 'notes';

/** Declares it: it answers with what it is given. */
export function declareNotes(gateway: Gateway): void {
  gateway.integration(notes, { effect: 'readOnly' }, ({ input }: ToolRequest) => input);
}
