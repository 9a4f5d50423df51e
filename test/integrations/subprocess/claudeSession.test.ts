import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { joinedAnswerOf } from '../../../src/integrations/subprocess/claudeSession.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const order = 'Your response above was cut off mid-stream. Resume directly from where it stops — no apology, no recap.';
const said = (id: string, text: string) => ({ type: 'assistant', message: { id, content: [{ type: 'text', text }] } });
const lines = [
  { type: 'user', message: { role: 'user', content: 'go' } },
  said('m1', 'one '),
  { type: 'last-prompt', lastPrompt: 'go' },
  { type: 'user', isMeta: true, message: { role: 'user', content: order } },
  { ...said('m2', 'of a sub-agent'), isSidechain: true },
  said('m3', 'two'),
];

describe('a session that Claude keeps on disk', () => {
  it('[R-14] gives its last answer where that came in pieces', () => {
    const home = temporaryDirectory();
    const project = join(home, '.claude', 'projects', '-work');
    mkdirSync(project, { recursive: true });
    const keep = (id: string, kept: readonly object[]): void =>
      writeFileSync(join(project, `${id}.jsonl`), kept.map((each) => `${JSON.stringify(each)}\n`).join(''));
    keep('cut', lines);
    keep('whole', [...lines, lines[0] ?? {}, said('m4', 'three')]);
    expect(joinedAnswerOf('cut', 'two', { HOME: home })).toBe('one two');
    expect(joinedAnswerOf('cut', 'two', { CLAUDE_CONFIG_DIR: join(home, '.claude') })).toBe('one two');
    expect(joinedAnswerOf('whole', 'two', { HOME: home })).toBeUndefined();
    expect(joinedAnswerOf('other', 'two', { HOME: home })).toBeUndefined();
    expect(joinedAnswerOf('cut', 'said by a later run', { HOME: home })).toBeUndefined();
    expect(joinedAnswerOf('../cut', 'two', { HOME: home })).toBeUndefined();
    expect(joinedAnswerOf('cut', 'two', {})).toBeUndefined();
  });
});
