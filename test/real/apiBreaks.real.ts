import { describe } from 'vitest';
import { itDoesAsTold } from './clientCells.ts';

// Where a tool would run twice, or a run would end, that need not: the cells that are tried in each check.
describe('the real programs through unwedge api, when an answer breaks', () => {
  itDoesAsTold('opencode', ['silent after a call', 'silent after its finish', 'cut in its text']);
  itDoesAsTold('gemini', ['silent after a call', 'cut after its finish', 'cut in its text', 'silent in its text']);
  itDoesAsTold('codex', ['refused for an hour']);
});
