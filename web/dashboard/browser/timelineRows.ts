import { formatDuration } from '../../../src/policy/text/face.ts';
import type { CallStepWhy } from '../../../src/calls/face.ts';
import type { EndedCallWhy, SessionWhy, ToolCallWhy } from '../../../src/sessions/face.ts';
import type { GlyphName, Sign, Tone } from './glyphs.ts';
import { counted } from './words.ts';

/** Look of a piece of a row: `mail` in the mailbox, `back` waits, `syn` a result that unwedge made. */
type Look = 'mail' | 'turn' | 'fail' | 'good' | 'back' | 'run' | 'ask' | 'held' | 'syn' | 'none';

export interface Segment {
  readonly look: Look;
  readonly from: number;
  /** @defaultValue it goes on */
  readonly to?: number | undefined;
  readonly text: string;
  /** Said of it at length. */
  readonly title: string;
}

/** A row of a timeline. Times are wall time of the server in ms. */
export interface TimelineRow {
  readonly key: string;
  readonly title: string;
  readonly sub: string;
  readonly segments: readonly Segment[];
  /** Times to come at which a rule fires. */
  readonly marks: readonly { readonly at: number; readonly text: string }[];
  /** Errors in the words of the other side. */
  readonly note: string;
  readonly state: readonly [...Sign, word: string];
  readonly stateNote: string;
  readonly rule?: { readonly text: string; readonly at: number } | undefined;
  readonly isPending: boolean;
}

/** Makes the rows of the turn under way, from the words of its gateway; empty without a turn. @param begunAt - of the turn. */
export function liveRows(why: SessionWhy, begunAt: number): readonly TimelineRow[] {
  const { turn, calls, ended = [], questions } = why;
  if (turn === undefined) return [];
  // Every time is told as seen from one moment.
  const toldAt = begunAt + turn.sinceMs;
  const rows = [
    ...ended.map((call) => endedRow(call, toldAt)),
    ...calls.map((call) => pendingRow(call, toldAt)),
    ...questions.map(({ what, sinceMs, deadlineInMs }, index): TimelineRow => {
      const at = toldAt + (deadlineInMs ?? 0);
      const from = toldAt - sinceMs;
      return {
        ...{ key: `question ${index}`, title: 'Asks a person', sub: 'question', note: what, isPending: true },
        segments: [{ look: 'ask', from, text: 'asks', title: `Waits for an answer: ${what}` }],
        ...{ marks: [{ at, text: 'given up' }], state: ['ask', 'wait', 'asks'], stateNote: 'nobody answered yet' },
        rule: { text: 'given up', at },
      };
    }),
  ].sort((one, other) => (one.segments[0]?.from ?? 0) - (other.segments[0]?.from ?? 0));
  return [messageRow(turn, begunAt), ...rows];
}

function messageRow(turn: NonNullable<SessionWhy['turn']>, begunAt: number): TimelineRow {
  const { waitedMs = 0, delivery, kind, message } = turn;
  return {
    ...{ key: 'message', title: message, sub: kind, note: '', isPending: true, marks: [] },
    segments: [
      ...mailSegments(begunAt - waitedMs, begunAt, 'Waited in the mailbox'),
      { look: 'turn', from: begunAt, text: `turn ${turn.turn}`, title: `Turn ${turn.turn}, under way` },
    ],
    state: ['run', 'acc', `turn ${turn.turn}`],
    stateNote: delivery > 1 ? `begun for the ${delivery}. time` : '',
  };
}

/** The time of a message in the mailbox; none where it was taken at once. */
export function mailSegments(from: number, to: number, words: string): readonly Segment[] {
  const waitedMs = to - from;
  return waitedMs < 1
    ? []
    : [{ look: 'mail', from, to, text: 'mailbox', title: `${words} for ${formatDuration(waitedMs)}` }];
}

function pendingRow(call: ToolCallWhy, toldAt: number): TimelineRow {
  const { integration, tool, progress, sinceMs } = call;
  const from = toldAt - sinceMs;
  const head = { key: call.call, title: `${integration} · ${tool}`, isPending: true };
  if (progress === undefined) {
    return {
      ...{ ...head, sub: 'not sent yet', marks: [], note: '', stateNote: 'being written to the store' },
      segments: [{ look: 'back', from, text: 'kept', title: 'Is written to the store before it is sent' }],
      state: ['clock', 'warn', 'not sent yet'],
    };
  }
  const { phase, attempt, maxAttempts, trail = [], silentMs, next } = progress;
  const steps = stepSegments(trail, toldAt);
  const since = steps.at(-1)?.to ?? from;
  const isRunning = phase === 'in_flight';
  const now: Segment = isRunning
    ? { look: 'run', from: since, text: `attempt ${attempt}`, title: `Attempt ${attempt}, in flight` }
    : { look: lookOf(phase), from: since, text: wordOf(phase), title: `${wordOf(phase)}, as of now` };
  const rule = { text: ruleWord(next.rule, attempt), at: toldAt + next.inMs };
  const silence = silentMs === undefined || silentMs < 1000 ? '' : `silent for ${formatDuration(silentMs)}`;
  return {
    ...{ ...head, sub: attempt === 0 ? 'no attempt yet' : `attempt ${attempt} of ${maxAttempts}` },
    ...{ segments: [...steps, now], marks: [{ at: rule.at, text: rule.text }], note: notesOf(trail), rule },
    state: isRunning ? ['run', 'acc', 'in flight'] : [glyphOf(phase), toneOf(phase), wordOf(phase)],
    stateNote: isRunning ? silence : `for ${formatDuration(progress.phaseMs ?? 0)}`,
  };
}

function endedRow(call: EndedCallWhy, toldAt: number): TimelineRow {
  const { integration, tool, sinceMs, endedAgoMs, ok, failure, attempts, trail, synthetic = false } = call;
  const from = toldAt - sinceMs;
  const to = toldAt - endedAgoMs;
  const steps = stepSegments(trail, toldAt);
  const since = steps.at(-1)?.to ?? from;
  const isRefused = !ok && attempts === 0;
  const last: Segment = ok
    ? { look: 'good', from: since, to, text: '✓', title: `Attempt ${attempts} succeeded` }
    : { look: 'fail', from: since, to, text: '✕', title: failure?.message ?? 'It failed' };
  // The last attempt that failed is among the steps already.
  const isTold = trail.at(-1)?.failure !== undefined && to - since < 1;
  const made: Segment = {
    look: 'syn',
    from: to,
    to,
    text: isRefused ? 'refused' : 'synthetic',
    title: failure?.message ?? '',
  };
  return {
    ...{ key: call.call, title: `${integration} · ${tool}`, isPending: false, marks: [] },
    sub: isRefused ? 'not sent' : counted(attempts, 'attempt'),
    segments: [...steps, ...((ok || !isTold) && !isRefused ? [last] : []), ...(synthetic || isRefused ? [made] : [])],
    note: [notesOf(trail), isTold || failure === undefined ? '' : `${failure.kind}: ${failure.message}`]
      .filter((each) => each !== '')
      .join('; '),
    state: ok
      ? ['ok', 'ok', 'succeeded']
      : ['cross', 'bad', isRefused ? 'refused' : synthetic ? 'synthetic result' : 'failed'],
    stateNote: `after ${formatDuration(sinceMs - endedAgoMs)}`,
  };
}

function stepSegments(trail: readonly CallStepWhy[], toldAt: number): readonly Segment[] {
  const attempts = trail.filter(({ state }) => state === 'attempt').length;
  let attempt = 0;
  return trail.map(({ state, tookMs, endedAgoMs, failure }): Segment => {
    const times = { from: toldAt - endedAgoMs - tookMs, to: toldAt - endedAgoMs };
    if (state !== 'attempt') {
      return {
        look: lookOf(state),
        ...times,
        text: wordOf(state),
        title: `${wordOf(state)} for ${formatDuration(tookMs)}`,
      };
    }
    attempt += 1;
    const what = failure === undefined ? 'failed' : `${failure.kind}: ${failure.message}`;
    return { look: 'fail', ...times, text: attempts > 9 ? '' : '✕', title: `Attempt ${attempt}: ${what}` };
  });
}

/** Notes the failure of each attempt that failed; the same words once. */
function notesOf(trail: readonly CallStepWhy[]): string {
  const texts: { first: number; last: number; text: string }[] = [];
  let attempt = 0;
  for (const { state, failure } of trail) {
    if (state !== 'attempt') continue;
    attempt += 1;
    const text = failure === undefined ? 'failed' : `${failure.kind}: ${failure.message}`;
    const last = texts.at(-1);
    if (last?.text === text) last.last = attempt;
    else texts.push({ first: attempt, last: attempt, text });
  }
  return texts.map(({ first, last, text }) => `${first === last ? first : `${first}–${last}`}: ${text}`).join('; ');
}

/** Waits that are told of, in the words of the page; a state that this page does not know keeps its own. */
const words: Readonly<Record<string, string>> = {
  backoff: 'backing off',
  pause: 'paused',
  restart: 'waits for a restart',
  permit: 'waits for a permit',
  probe: 'waits for a probe',
  scope: 'waits for its scope',
  suspect: 'no sign of life',
  rate: 'rate limit',
  reconciling: 'did it happen?',
};

function wordOf(state: string): string {
  return words[state] ?? state.replaceAll('_', ' ');
}

/** The other side is asked whether it happened: an unknown answer has a colour of its own. */
const lookOf = (state: string): Look => (state === 'reconciling' ? 'ask' : 'back');
const glyphOf = (state: string): GlyphName => (state === 'reconciling' ? 'ask' : 'clock');
const toneOf = (state: string): Tone => (state === 'reconciling' ? 'wait' : 'warn');

function ruleWord(rule: string, attempt: number): string {
  const named: Readonly<Record<string, string>> = {
    next_attempt: `attempt ${attempt + 1}`,
    restart_wait: 'waits no longer',
    rate_limit: 'goes out',
    idle_timeout: 'idle limit',
    ping: 'ping',
    attempt_timeout: 'attempt limit',
    overall_timeout: 'call limit',
  };
  return named[rule] ?? rule.replaceAll('_', ' ');
}
