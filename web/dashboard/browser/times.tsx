import { signal } from '@preact/signals';
import { formatSeconds } from '../../../src/policy/text/face.ts';
import { now } from './live.ts';
import { clockTime } from './words.ts';

/** True where times are shown by the clock in place of how long ago. */
export const absolute = signal(false);

/** Shows the time left until then. It is silent: a screen reader that read each second would say nothing else. */
export function Countdown({ at }: { readonly at: number }) {
  const left = at - now.value;
  return (
    <span class="cd" role="timer" aria-live="off" title={clockTime(at, now.value)}>
      {left > 0 ? formatSeconds(left) : 'due'}
    </span>
  );
}

/** `at 14:02:35` */
export function At({ at }: { readonly at: number }) {
  return <span class="nw">at {clockTime(at, now.value)}</span>;
}

/** Shows how long ago; by the clock on hover, and where the reader chose so. */
export function Ago({ at }: { readonly at: number }) {
  const time = clockTime(at, now.value);
  return (
    <time class="nw" dateTime={new Date(at).toISOString()} title={time}>
      {absolute.value ? time : `${formatSeconds(Math.max(0, now.value - at - 999))} ago`}
    </time>
  );
}

/** Shows how long it has been going on. */
export function Since({ at }: { readonly at: number }) {
  return (
    <span class="nw" title={clockTime(at, now.value)}>
      {formatSeconds(Math.max(0, now.value - at - 999))}
    </span>
  );
}
