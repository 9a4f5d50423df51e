import { alertText } from '../policy/records/alertText.ts';
import { breakerRuleNote } from '../policy/breakerRule.ts';
import type { Clock } from '../policy/clock.ts';
import { formatDuration } from '../policy/text/duration.ts';
import type { Fact, FactOf, FactType } from '../policy/facts/facts.ts';
import { failureKinds } from '../policy/failures/failure.ts';
import { lastMet } from '../policy/records/lastMet.ts';
import { type Logger, type LogLevel, say } from '../policy/text/logger.ts';
import { sanitize } from '../policy/text/sanitize.ts';
import type { Bus } from './bus.ts';
import { LineRate } from './lineRate.ts';

/** A line for people: how much it matters, whom it is about, and what it says. */
interface Line {
  readonly level: LogLevel;
  readonly subject: string;
  readonly text: string;
}

type Lines = { readonly [T in FactType]?: (fact: FactOf<T>) => Line | undefined };

const waitTexts: Readonly<Record<FactOf<'call.pending'>['waitsFor'], string>> = {
  in_flight: 'an answer',
  backoff: 'its next attempt',
  pause: 'the end of a pause that the server asked for',
  restart: 'a restart',
  permit: 'a place',
  probe: 'the probe of an open circuit',
  scope: 'earlier work of its scope',
  suspect: 'a sign of life of the server',
  rate: 'its rate limit',
  reconciling: 'the answer whether it happened',
};

function callText(integration: string, label: string | undefined): string {
  return `${label === undefined || label === integration ? 'A call' : `The call ${label}`} of ${integration}`;
}

/** By which `unwedge events` and `unwedge why` find it. */
function whoseText(call: string, session: string | undefined): string {
  return session === undefined ? call : `${call} of session ${session}`;
}

/** A stall that lasts longer is worth a line, in ms; a busy machine makes shorter ones. */
const longStallMs = 5000;

/** Lines that a host hears, besides what the store says of itself (O-11). */
const lines: Lines = {
  'breaker.opened': ({ integration, tool, openForMs, kind, rule, cause }) => ({
    level: 'warn',
    subject: nameOf(integration, tool),
    text:
      kind === 'isolated'
        ? `The circuit of ${nameOf(integration, tool)} is isolated: calls are refused until it is released`
        : `The circuit of ${nameOf(integration, tool)} opened${breakerRuleNote(rule)}: ${cause ?? kind}; next try in ${formatDuration(openForMs)}`,
  }),
  'breaker.closed': ({ integration, tool }) => ({
    level: 'info',
    subject: nameOf(integration, tool),
    text: `The circuit of ${nameOf(integration, tool)} closed`,
  }),
  'breaker.adopted': ({ integration, state, forMs = 0, rule, cause }) => {
    const what = state === 'closed' ? 'closed' : `is ${state} for ${formatDuration(forMs)}${breakerRuleNote(rule)}`;
    const why = cause === undefined ? '' : `: ${cause}`;
    return {
      level: state === 'open' ? 'warn' : 'info',
      subject: integration,
      text: `The circuit of ${integration} ${what}, as another process has found${why}`,
    };
  },
  'call.pending': ({ integration, call, label, session, waitsFor, elapsedMs, silentMs, rule, nextInMs, pingInMs }) => {
    const silent =
      silentMs === undefined
        ? `waits for ${waitTexts[waitsFor]}`
        : `silent for ${formatDuration(Math.round(silentMs))}`;
    const ping = pingInMs === undefined ? '' : `its server is pinged in ${formatDuration(Math.ceil(pingInMs))}, `;
    const about = `pending for ${formatDuration(Math.round(elapsedMs))}, ${silent}; ${ping}${rule} in ${formatDuration(Math.ceil(nextInMs))}`;
    return {
      level: 'warn',
      subject: integration,
      text: `${callText(integration, label)} (${whoseText(call, session)}) is ${about}`,
    };
  },
  'call.failed': ({ integration, label, failure }) => {
    // A hook that failed and an item that did are told as that.
    const isTold = integration.startsWith('hook:') || /^workflow:.*:items$/.test(integration);
    if (isTold || failure.kind === 'cancelled') return undefined;
    return {
      level: failureKinds[lastMet(failure).kind].alerts ? 'warn' : 'info',
      subject: integration,
      text: `${callText(integration, label)} failed (${failure.kind}, ${attemptsText(failure.attempts)}): ${failure.message}`,
    };
  },
  'session.turn_failed': ({ session, turn, kind, error }) => ({
    level: 'warn',
    subject: session,
    text: `Turn ${turn} of the session ${session} failed (${kind}): ${error}`,
  }),
  'session.tool_failed': ({ session, integration, tool, effect, lost }) => {
    // The call itself is told of the others.
    if (lost === undefined) return undefined;
    const what = effect === 'readOnly' ? 'it only reads' : 'it may have taken effect';
    const text = `${callText(integration, tool)} in the session ${session} lost its answer as its process ended: ${what}`;
    return { level: effect === 'readOnly' ? 'info' : 'warn', subject: session, text };
  },
  'session.resumed': ({ session, waiting, openCalls }) => {
    // Messages that merely waited are delivered as if nothing had been.
    if (openCalls === 0) return undefined;
    const asked = `it is asked what became of ${countText(openCalls, 'call')}`;
    const text = `The session ${session} goes on where an earlier process ended: ${asked}, ${countText(waiting, 'message')} to deliver`;
    return { level: 'warn', subject: session, text };
  },
  'session.unclaimed': ({ session, sessions }) => {
    const who = sessions === 1 ? `The session ${session} has` : `${sessions} sessions, such as ${session}, have`;
    const next = 'Declare what goes on: gateway.session(id, …) or gateway.adoptSessions(…)';
    return { level: 'warn', subject: session, text: `${who} messages or calls to go on with, and no gateway. ${next}` };
  },
  'session.dead_letter': ({ session, message, reason }) => ({
    level: 'warn',
    subject: session,
    text: `The message ${message} of the session ${session} is not delivered any more (${reason}); unwedge letters shows it`,
  }),
  'workflow.*.item_error': ({ workflow, item, attempt, final, error }) =>
    final
      ? {
          level: 'error',
          subject: workflow,
          text: `Item ${item} PERMANENTLY FAILED after ${attemptsText(attempt)}: ${error}`,
        }
      : undefined,
  'runtime.stalled': ({ stalledMs }) =>
    stalledMs < longStallMs
      ? undefined
      : {
          level: 'warn',
          subject: 'runtime',
          text: `The event loop of this process stood still for ${formatDuration(stalledMs)}: nothing went on meanwhile, and no limit on silence counts it`,
        },
  'alert.raised': (fact) => ({ level: 'error', subject: fact.integration, text: alertText(fact) }),
  'alert.cleared': (fact) => ({ level: 'info', subject: fact.integration, text: alertText(fact) }),
  'hook.failed': ({ hook, event, error }) => ({
    level: 'warn',
    subject: hook,
    text: `The hook ${hook} failed on ${event}: ${error}`,
  }),
  'child.quarantined': ({ child, restarts, error, nextRestartInMs }) => ({
    level: 'error',
    subject: child,
    text: `${child} is in quarantine after ${countText(restarts, 'restart')}${nextRestartInMs === undefined ? '' : `, for ${formatDuration(nextRestartInMs)}`}: ${error}`,
  }),
  'supervisor.gave_up': ({ supervisor, child, restarts, periodMs }) => ({
    level: 'error',
    subject: supervisor,
    text: `The supervisor ${supervisor} gave up for ${child}: ${restarts} restarts within ${formatDuration(periodMs)}`,
  }),
};

const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Characters of a line: what others said may be long. */
const longest = 500;

/** Has a host's logger hear, in one line each, what somebody should know; nothing is listened to without one. */
export function logToHost(bus: Pick<Bus, 'on'>, clock: Clock, logger: Logger | undefined): void {
  if (logger === undefined) return;
  const rate = new LineRate(clock);
  const listen = <T extends FactType>(type: T, lineOf: (fact: FactOf<T>) => Line | undefined): void => {
    bus.on(type, (fact) => {
      const line = lineOf(fact as FactOf<T>);
      if (line === undefined) return;
      const held = rate.admit(`${type} ${line.subject}`);
      if (held === undefined) return;
      const more = held === 0 ? '' : ` (${held} more like it were not logged)`;
      say(logger, line.level, `${oneLine(line.text)}${more}`, { event: fact.type, subject: line.subject });
    });
  };
  for (const type of Object.keys(lines) as (keyof typeof lines)[]) {
    const lineOf = lines[type] as ((fact: FactOf<typeof type>) => Line | undefined) | undefined;
    if (lineOf !== undefined) listen(type, lineOf);
  }
  for (const type of operatorFactTypes) {
    listen(type, (fact) => ({ level: 'info', subject: aboutOperator(fact), text: operatorText(fact) }));
  }
}

function nameOf(integration: string, tool: string | undefined): string {
  return tool === undefined ? integration : `the tool ${tool} of ${integration}`;
}

const attemptsText = (count: number): string => (count === 1 ? '1 attempt' : `${count} attempts`);

/** Whatever others put into their messages, a line stays one. */
function oneLine(text: string): string {
  return sanitize(text.slice(0, longest).replaceAll(/\s+/g, ' '));
}

type OperatorFact = Extract<Fact, { readonly type: `operator.${string}` }>;
type OperatorFactType = Extract<FactType, `operator.${string}`>;

/** Says what an operator did, in a line for people. */
function operatorText<T extends OperatorFactType>(fact: FactOf<T>): string {
  const textOf = texts[fact.type as T] as (fact: FactOf<T>) => string;
  return `${textOf(fact)}${whoText(fact as OperatorFact)}`;
}

const texts: { readonly [T in OperatorFactType]: (fact: FactOf<T>) => string } = {
  'operator.restarted': (fact) => {
    const { integration, calls } = fact;
    const ended = calls === 0 ? '' : `, with ${calls === 1 ? '1 call' : `${calls} calls`} in flight`;
    const what = integration === undefined ? `the session ${fact.session ?? ''}` : integration;
    return `An operator restarted ${what}${ended}`;
  },
  'operator.isolated': (fact) => `An operator isolated ${fact.integration}`,
  'operator.reset': (fact) => `An operator reset the circuit of ${fact.integration}`,
  'operator.probed': (fact) => {
    const { integration, tool } = fact;
    const what = tool === undefined ? integration : `the tool ${tool} of ${integration}`;
    return `An operator asked for a probe of ${what}`;
  },
  'operator.fired': (fact) => `An operator had ${fact.rule} of the session ${fact.session} act at once`,
  'operator.retries_stopped': (fact) =>
    `An operator stopped the retries of ${fact.call} of the session ${fact.session}`,
  'operator.cancelled': (fact) => {
    const { session, turn, call } = fact;
    return `An operator ended ${call === undefined ? `turn ${turn}` : call} of the session ${session}`;
  },
  'operator.repetition': ({ order, tool, session }) =>
    `An operator had ${tool} of the session ${session} ${order === 'hold' ? 'held' : 'go on'}`,
  'operator.sent_again': (fact) =>
    `An operator sent the dead letter ${fact.message} of the session ${fact.session} again, as ${fact.as}`,
  'operator.dropped': (fact) => `An operator dropped the dead letter ${fact.message} of the session ${fact.session}`,
  'operator.forgot': ({ rows }) => `An operator had a session erased: ${rows} rows`,
  'operator.acknowledged': (fact) => `An operator acknowledged the alert of ${fact.integration}`,
  'operator.snoozed': (fact) => `An operator put off the alert of ${fact.integration}`,
};

/** The orders that are told. */
const operatorFactTypes = Object.keys(texts) as readonly OperatorFactType[];

/** Whom an operator's order was about. */
function aboutOperator(fact: OperatorFact): string {
  const { session, integration = '' } = fact as { readonly session?: string; readonly integration?: string };
  return session ?? integration;
}

function whoText({ by, why }: Pick<OperatorFact, 'by' | 'why'>): string {
  const who = by === undefined ? '' : ` (${by})`;
  return `${who}${why === undefined ? '' : `: ${why}`}`;
}
