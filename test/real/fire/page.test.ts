import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Cell } from './cell.ts';
import { troubles } from './judge.ts';
import { cellText, page, readKept } from './page.ts';

const cell = (more: Partial<Cell> = {}): Cell => ({
  agent: 'goose',
  version: '1.0.0',
  mode: 'acp',
  way: 'behind',
  fault: 'cut',
  prompts: [{ end: 'error -32603 (transient): The stream was cut', answers: 1, seconds: 1.5 }],
  shown: 1,
  requests: 1,
  left: [],
  next: 'end_turn',
  text: 'ONCE',
  ...more,
});
const ended = (end: string, seconds = 1, answers = 1) => ({ prompts: [{ end, answers, seconds }] });

describe('a cell under fire', () => {
  it.each([
    ['as it should be', cell(), [], 'error -32603 (transient) 1.5'],
    ['told as success', cell(ended('end_turn')), ['untrue'], '**end_turn 1**'],
    ['without an end', cell({ ...ended('none', 45, 0), next: undefined }), ['untrue', 'not answered once'], '**none**'],
    ['answered twice', cell(ended('error 1: x', 1, 2)), ['not answered once'], '**error 1, 1 (2 answers)**'],
    ['late', cell({ ...ended('cancelled', 9), fault: 'cancel' }), ['late'], '**cancelled 9**'],
    ['with its text twice', cell({ shown: 2 }), ['doubled'], 'error -32603 (transient) 1.5, **2×**'],
    ['with a child left', cell({ left: ['sh'] }), ['left'], 'error -32603 (transient) 1.5, **1 left**'],
    ['whose session hangs', cell({ next: 'none' }), ['does not go on'], 'error -32603 (transient) 1.5, **then none**'],
    ['that lives on', cell({ fault: 'stdin', exit: 'none', next: undefined }), ['does not end'], '**lives on**'],
    [
      'of two prompts',
      cell({ fault: 'second', shown: 2, prompts: [...ended('end_turn').prompts, ...ended('end_turn', 2).prompts] }),
      [],
      'end_turn 1; end_turn 2',
    ],
    ['of an exit code', cell({ mode: 'headless', ...ended('exit 0') }), ['untrue'], '**exit 0, 1**'],
    ['that did not start', cell({ prompts: [], broken: 'x' }), ['did not start'], '**did not start**'],
  ] as const)('[A-9] is judged and shown: one %s', (_, given, found, text) => {
    expect(troubles(given)).toEqual(found);
    expect(cellText(given)).toBe(text);
  });

  it('[A-9] holds a bare agent that was killed to no answer: its connection is closed', () => {
    const killed = cell({ fault: 'killed', way: 'bare', ...ended('closed', 0, 0), next: undefined });
    expect(troubles(killed)).toEqual([]);
    expect(troubles({ ...killed, way: 'behind' })).toEqual(['untrue', 'not answered once']);
  });
});

describe('docs/agents-under-fire.md', () => {
  it('[A-9] is made of what was seen, by `npm run fire -- --page`', () => {
    const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
    const text = page(readKept(read('seen.jsonl')));
    expect(read('../../../docs/agents-under-fire.md')).toBe(text);
    expect(text.split('\n').length).toBeLessThanOrEqual(160);
    expect(text).not.toMatch(/\/(?:work|home|tmp)\//);
  });
});
