import { describe, expect, it } from 'vitest';
import { judgeRecorded } from '../../support/recordedAgent.ts';

describe('a run of an agent that was recorded', () => {
  it.each([
    ['goose', 'good', 'Hello world.'],
    ['goose', 'good-json', 'Hello world.'],
    ['goose', 'banner-json', 'Hello world.'],
    ['goose', 'tool', 'Done.'],
    ['gemini', 'good', 'Hello world.'],
    ['gemini', 'good-json', 'Hello world.'],
    ['gemini', 'tool', 'Done.'],
    ['gemini', 'tool-json', 'Done.'],
    ['opencode', 'good', 'Hello world.'],
    ['opencode', 'tool', 'Done.'],
    ['copilot', 'good', 'Hello world.'],
    ['copilot', 'tool', 'Done.'],
  ] as const)('[A-2] of %s (%s) gave its answer', (agent, name, text) => {
    const { report, failure } = judgeRecorded(agent, name, 0);
    expect(failure).toBeUndefined();
    expect(report).toMatchObject({ agent, text, concluded: true });
    expect(report.effects).toBe(name.startsWith('tool') ? 'possible' : 'none');
    expect(report.calls?.tools).toBe(name.startsWith('tool') ? 1 : 0);
  });

  it.each([
    ['goose', '500', 0, 'transient', 500],
    ['goose', '500-json', 0, 'transient', 500],
    ['goose', '500-text', 0, 'transient', 500],
    ['goose', '400', 0, 'permanent', 400],
    ['goose', '429', 0, 'rate_limit', undefined],
    ['goose', 'cut', 0, 'transient', undefined],
    ['goose', 'empty', 0, 'unknown', undefined],
    ['goose', 'length', 0, 'permanent', undefined],
    ['goose', 'length-json', 0, 'permanent', undefined],
    ['goose', '401', 1, 'auth', 401],
    ['goose', 'silent-int', 1, 'cancelled', undefined],
    ['gemini', 'eof', 0, 'transient', undefined],
    ['gemini', 'eof-json', 0, 'transient', undefined],
    ['gemini', 'eof-text', 0, 'transient', undefined],
    ['gemini', 'empty', 0, 'unknown', undefined],
    ['gemini', 'cut', 1, 'transient', undefined],
    ['gemini', '400', 144, 'permanent', 400],
    ['gemini', '401', 145, 'auth', 401],
    ['gemini', '401-json', 145, 'auth', 401],
    ['gemini', '401-text', 1, 'auth', 401],
    ['gemini', '429', 173, 'rate_limit', 429],
    ['gemini', '500-one', 244, 'transient', 500],
    ['opencode', '401', 1, 'auth', 401],
    ['opencode', '500', 1, 'transient', 500],
    ['opencode', 'cut', 1, 'transient', undefined],
    ['opencode', 'length', 0, 'permanent', undefined],
    ['opencode', 'empty', 0, 'unknown', undefined],
    ['copilot', '401', 1, 'auth', 401],
    ['copilot', '429', 1, 'rate_limit', 429],
    ['copilot', 'cut', 1, 'transient', undefined],
    ['copilot', 'empty', 1, 'unknown', undefined],
  ] as const)('[A-2] of %s (%s, exit %i) failed: %s', (agent, name, exitCode, kind, status) => {
    const { report, failure } = judgeRecorded(agent, name, exitCode);
    expect(failure).toMatchObject({ kind, ...(status !== undefined && { status }) });
    expect(report.text).toBeUndefined();
    expect(failure?.message).not.toContain('ended without a result');
    expect(failure?.reason === 'empty_response').toBe(name.startsWith('empty'));
  });

  it.each(['goose', 'gemini', 'opencode', 'copilot'])('[A-2] of %s was ended by a signal in a tool', (agent) => {
    const { failure, report } = judgeRecorded(agent, 'sleep-term', agent === 'gemini' ? 0 : 'SIGTERM');
    expect(failure).toMatchObject(
      agent === 'gemini' ? { kind: 'protocol', outcome: 'unknown' } : { kind: 'crash', code: 'SIGTERM' },
    );
    expect(report.effects).toBe(agent === 'opencode' ? 'unknown' : 'possible');
  });

  it('[A-2] of goose tells nothing of an answer that its model broke off', () => {
    expect(judgeRecorded('goose', 'eof', 0)).toMatchObject({ failure: undefined, report: { text: 'Half an ans' } });
  });

  it('[A-2] of goose had words of its own before its last message', () => {
    const { failure, report } = judgeRecorded('goose', 'sleep-int', 1);
    expect(failure).toMatchObject({ kind: 'cancelled' });
    expect(report.concluded).toBe(true);
  });

  it.each([
    ['goose', '500', 0],
    ['goose', '429', 0],
    ['gemini', 'eof', 0],
    ['opencode', '500', 1],
    ['copilot', '429', 1],
  ] as const)('[A-2] [R-6] of %s (%s) had repeated in vain what failed', (agent, name, exitCode) => {
    const { failure } = judgeRecorded(agent, name, exitCode, true);
    expect(failure?.shouldRetry).toBe(false);
  });

  it.each([
    ['goose', 'cut', 0],
    ['gemini', 'cut', 1],
  ] as const)('[A-2] [R-6] of %s (%s) had not repeated what failed', (agent, name, exitCode) => {
    expect(judgeRecorded(agent, name, exitCode, true).failure?.shouldRetry).toBeUndefined();
  });

  it('[A-2] of opencode says the same text again and again, which is no progress', () => {
    const { signs, failure } = judgeRecorded('opencode', 'eof', 'SIGTERM');
    expect(signs.filter((sign) => sign === 'progress')).toHaveLength(1);
    expect(failure?.kind).toBe('crash');
  });

  it('[A-1] tells of a tool only when it is over: until its good end effects are not known', () => {
    expect(judgeRecorded('opencode', '401', 1).report.effects).toBe('unknown');
    expect(judgeRecorded('opencode', 'good', 0).report.effects).toBe('none');
    expect(judgeRecorded('gemini', '401', 145).report.effects).toBe('none');
  });
});
