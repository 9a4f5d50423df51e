import { describe, expect, it } from 'vitest';
import { call } from './startCli.ts';

describe('a choice of values', () => {
  it.each([
    [['machines', '--format', 'csv'], 'Unknown format "csv"; it is one of mermaid, json, xstate'],
    [['machines', 'nothing'], /^unwedge: Unknown machine "nothing"; it is one of .*session/],
    [['agent', '--backend', 'zzz', 'hello'], 'Unknown backend "zzz"; it is one of claude, codex'],
    [['demo', '--only', 'zzzzzzzzz'], /Unknown fault "zzzzzzzzz"; it is one of .*mcp-killed/],
    [['repair', 'x.jsonl', '--format', 'zzz'], /Unknown format "zzz"; it is one of anthropic, /],
    [['run', '--policy', 'zzz', '--', 'true'], /Unknown policy "zzz"; it is one of .*subprocess/],
    [['run', '--agent', 'zzz', '--', 'true'], /Unknown agent "zzz"; it is one of auto, none, claude, codex/],
  ])('[L-1] is listed where another is given: %j', async (words, said) => {
    expect((await call(words)).stderr).toMatch(said);
  });

  it('[L-6] are wrapped at words where stderr is a terminal, and one line elsewhere', async () => {
    const words = ['events', '--db', '/nonexistent/of/a/directory/that/is/not/there.sqlite'];
    const { stderr } = await call(words, { errorColumns: 40 });
    expect(stderr.trimEnd().split('\n').length).toBeGreaterThan(2);
    expect(stderr.replaceAll(/\n +/g, ' ')).toBe((await call(words)).stderr);
  });
});
