import { expect, it } from 'vitest';
import { createTurnNotes } from '../../../agents/conversation/agentHandover.ts';

it('[U-4] notes each tool that a turn used, those that share an id too', () => {
  const notes = createTurnNotes();
  const started = (tool: string) => notes.take({ type: 'tool.started', id: 't', tool, action: '' });
  const ended = (ok: boolean) => notes.take({ type: 'tool.ended', id: 't', tool: 'a tool', ok });
  started('Write');
  started('Bash');
  ended(true);
  ended(false);
  started('Edit');
  expect(notes.lines()).toEqual(['Write (done)', 'Bash (failed)', 'Edit (no result known)']);
});
