import { describe, expect, it } from 'vitest';
import { eventLine, progressText } from '../../workflow/progressText.ts';
import type { WorkflowEvent, WorkflowProgress } from '../../workflow/workflowTypes.ts';

const item = (action: string, attempt = 1) => ({ id: `id of ${action}`, action, attempt, maxAttempts: 3 });

const progress = (more: Partial<WorkflowProgress> = {}): WorkflowProgress => ({
  backend: 'claude',
  phase: 'working',
  ended: 3,
  total: 8,
  running: [item('fetch prices', 2), item('write summary')],
  ...more,
});

describe('the progress of a run', () => {
  it('names what is at work, and which attempt it is', () => {
    expect(progressText(progress())).toBe('3 of 8 · fetch prices (attempt 2 of 3), write summary · claude');
  });

  it('counts what finds no room in the width', () => {
    expect(progressText(progress(), 62)).toBe('3 of 8 · fetch prices (attempt 2 of 3), write summary · claude');
    expect(progressText(progress(), 61)).toBe('3 of 8 · fetch prices (attempt 2 of 3) and 1 more · claude');
    expect(progressText(progress(), 20)).toBe('3 of 8 · fetch pric…');
  });

  it('counts what is more than ten, without a limit too', () => {
    const running = Array.from({ length: 1_000 }, (_, number) => item(`i${number}`));
    expect(progressText(progress({ running }))).toBe(
      '3 of 8 · i0, i1, i2, i3, i4, i5, i6, i7, i8, i9 and 990 more · claude',
    );
  });

  it.each([
    [{ phase: 'planning', total: 0, running: [] }, 'planning · claude'],
    [{ running: [] }, '3 of 8 · claude'],
    [{ phase: 'summing_up', running: [] }, '3 of 8 · summing up · claude'],
    [{ phase: 'ended', running: [] }, '3 of 8 · claude'],
    [{ running: [item('')] }, '3 of 8 · id of · claude'],
  ] as const)('says where it stands: %j', (more, text) => {
    expect(progressText(progress(more))).toBe(text);
  });

  it('does not let an item steer the terminal', () => {
    const running = [item('\u001b]0;title\u0007\u001b[2Jfetch\r\nprices\u202e')];
    expect(progressText(progress({ running, backend: 'clau\u001b[1mde' }))).toBe('3 of 8 · fetch prices · claude');
  });

  it('takes no more columns than it may, whatever the script', () => {
    expect(progressText(progress({ running: [item('価格を取得する')] }), 14)).toBe('3 of 8 · 価格…');
  });
});

const about = { backend: 'claude', id: 'a', action: 'fetch\nprices', attempt: 3, maxAttempts: 3, ended: 2, total: 8 };
const ended = { status: 'partial', backend: 'claude', done: 1, failed: 1, skipped: 0 } as const;

describe('the line of an event', () => {
  it.each([
    [{ type: 'workflow_item', data: { ...about, status: 'done' } }, '2 of 8 · done: fetch prices · claude'],
    [
      { type: 'workflow_item', data: { ...about, status: 'handed_over' } },
      '2 of 8 · handed over: fetch prices · claude',
    ],
    [{ type: 'workflow_item', data: { ...about, status: 'skipped' } }, '2 of 8 · skipped: fetch prices · claude'],
    [
      { type: 'workflow_item', data: { ...about, status: 'failed', error: 'HTTP\u001b[31m 503' } },
      '2 of 8 · failed: fetch prices (attempt 3 of 3) · HTTP 503 · claude',
    ],
    [
      { type: 'workflow_fallback', data: { from: 'cla\u001b[1mude', to: 'codex\n', reason: 'no\nkey' } },
      'claude → codex · no key',
    ],
    [{ type: 'workflow_ended', data: { ...ended, message: '1 of 2\ndone' } }, '1 of 2 done'],
    [{ type: 'workflow_item', data: { ...about, status: 'running' } }, undefined],
    [{ type: 'workflow_item', data: { ...about, status: 'retrying' } }, undefined],
    [{ type: 'workflow_started', data: { run: '1', backend: 'claude' } }, undefined],
    [{ type: 'workflow_planned', data: { backend: 'claude', items: [] } }, undefined],
  ] satisfies [WorkflowEvent, string | undefined][])('of %j', (event, line) => {
    expect(eventLine(event)).toBe(line);
  });

  it('holds as much of an error as a person reads', () => {
    const data = { ...about, status: 'failed' as const, error: 'x'.repeat(100_000) };
    expect(eventLine({ type: 'workflow_item', data })?.length).toBeLessThan(300);
  });
});
