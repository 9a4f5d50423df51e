import { fitText, sanitize, textWidth } from '../src/policy/text/face.ts';
import type { WorkflowEvent, WorkflowProgress } from './workflowTypes.ts';

/** Items named in one line at most. */
const maxNamed = 10;
/** Longest error in a line, in columns. */
const maxErrorWidth = 200;

/**
 * Tells where a run stands, as one line for people: `3 of 8 · fetch prices (attempt 2 of 3), write summary · claude`.
 * @param width - columns it may take, at least 1; items that find no room in it are counted. @defaultValue no limit
 */
export function progressText(progress: WorkflowProgress, width: number = Number.POSITIVE_INFINITY): string {
  const { backend, ended, total, running } = progress;
  const count = total === 0 ? '' : `${ended} of ${total}`;
  const line = (named: number): string => joined([count, doing(progress, named), sanitize(backend)]);
  for (let named = Math.min(running.length, maxNamed); named > 1; named--) {
    const text = line(named);
    if (textWidth(text) <= width) return text;
  }
  return fitText(line(1), width);
}

function doing({ phase, running }: WorkflowProgress, named: number): string {
  switch (phase) {
    case 'reconciling':
      return 'finding out what was done';
    case 'planning':
      return 'planning';
    case 'summing_up':
      return 'summing up';
    case 'ended':
      return '';
    case 'working': {
      const names = running.slice(0, named).map(({ id, action, attempt, maxAttempts }) => {
        return attempt > 1 ? `${itemName(action, id)} (attempt ${attempt} of ${maxAttempts})` : itemName(action, id);
      });
      const more = running.length - names.length;
      return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
    }
  }
}

/** Says what a reader of a log has to know of an event; undefined when that is nothing. Items at work are left to {@link progressText}. */
export function eventLine({ type, data }: WorkflowEvent): string | undefined {
  switch (type) {
    case 'workflow_started':
    case 'workflow_planned':
      return undefined;
    case 'workflow_fallback':
      return joined([`${sanitize(data.from)} → ${sanitize(data.to)}`, shortError(data.reason)]);
    case 'workflow_reconciled': {
      const { id, action, from, verdict, how } = data;
      const what = `${itemName(action, id)} of ${sanitize(from)}: ${verdict.replace('_', ' ')}`;
      return joined([what, shortError(how)]);
    }
    case 'workflow_ended':
      return sanitize(data.message);
    case 'workflow_item': {
      const { status, action, id, attempt, maxAttempts, ended, total, error, backend } = data;
      if (status === 'running' || status === 'retrying') return undefined;
      const tries = status === 'failed' ? ` (attempt ${attempt} of ${maxAttempts})` : '';
      const what = `${status.replace('_', ' ')}: ${itemName(action, id)}${tries}`;
      return joined([`${ended} of ${total}`, what, shortError(error ?? ''), sanitize(backend)]);
    }
  }
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' · ');

const itemName = (action: string, id: string): string => sanitize(action) || sanitize(id);

const shortError = (text: string): string => fitText(sanitize(text), maxErrorWidth);
