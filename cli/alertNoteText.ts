import type { AlertNote } from '../src/store/alertNote.ts';
import { formatSeconds } from '../src/policy/duration.ts';
import { sanitize } from './sanitize.ts';
import { ago, localTime } from './timeText.ts';

/** Says who looks after an alert or has put it off, since when, and why. */
export function noteText({ is, at, by, why, until }: AlertNote, now: number): string {
  const who = by === undefined ? '' : ` by ${sanitize(by)}`;
  const reason = why === undefined ? '' : `: ${sanitize(why)}`;
  if (is === 'acknowledged') return `acknowledged${who} ${ago(at, now)}${reason}`;
  const left = until ?? at;
  const end = left > now ? `, told again in ${formatSeconds(left - now)}` : ', which is over';
  return `put off${who} until ${localTime(left).slice(0, 16)}${end}${reason}`;
}
