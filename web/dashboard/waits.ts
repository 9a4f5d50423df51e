import type { BreakerCause, Question } from '../../src/policy/records/face.ts';
import { breakerRuleText } from '../../src/policy/face.ts';
import { higherLimit } from '../../src/policy/text/face.ts';
import { askingHere, type HurtSessions, hurtText, type Need, needsOf, waitsForBudget } from '../../operator/needs.ts';
import type { AskedRuntime } from '../../operator/askRuntimes.ts';
import type { SessionWhy, ToolCallWhy } from '../../src/sessions/face.ts';
import type { DeadLetterRecord } from '../../reader/storeReader.ts';
import type { TreeNode } from '../../src/supervisor/face.ts';
import type { PendingRecords } from './frozen.ts';
import type { AlertLine, IntegrationLine, RuntimeLine, Wait } from './snapshot.ts';
import type { SteadyTimes } from './steadyTimes.ts';

/** Sources of waits. Times are wall time in ms since the epoch. */
export interface WaitSources {
  readonly at: number;
  readonly integrations: readonly IntegrationLine[];
  readonly alerts: readonly AlertLine[];
  readonly trees: readonly AskedRuntime<TreeNode>[];
  readonly whys: readonly SessionWhy[];
  readonly times: SteadyTimes;
  readonly runtimes: readonly RuntimeLine[];
  /** Since when runtimes do not answer, by their key. */
  readonly frozenSince: ReadonlyMap<string, number>;
  /** Records of sessions that no gateway answers for. */
  readonly pending: PendingRecords;
  /** Gateways that ended without a word, and have no successor. */
  readonly dead: readonly DeadLine[];
  /** Messages that nobody will process unless a person sends them again. */
  readonly letters: readonly Pick<DeadLetterRecord, 'session' | 'postedAt' | 'endedAt'>[];
  /** Open questions of the inbox. @defaultValue none */
  readonly questions?: readonly Question[] | undefined;
  /** Sessions that open circuits hurt. @defaultValue none is known */
  readonly hurt?: HurtSessions | undefined;
  /** Names as they may be shown; all but those of trees are so already. */
  readonly shown: (name: string) => string;
}

/** A gateway that ended without a word. */
interface DeadLine extends Pick<RuntimeLine, 'key' | 'name' | 'pid'> {
  /** Its last sign of life on record. */
  readonly lastSignAt: number;
}

/** A turn without a call that takes longer is worth a line, in ms. */
const longTurnMs = 60_000;
/** The same of a call that shows no sign of life. */
const longSilenceMs = 10_000;

/** Lists what waits now, for a person or for a rule. The wait that a rule will end soonest stands first among its kind. */
export function waitsOf(sources: WaitSources): readonly Wait[] {
  const { questions: asked = [] } = sources;
  const needs = needsOf({
    ...{ now: sources.at, dead: sources.dead, letters: sources.letters.length, hurt: sources.hurt ?? new Map() },
    frozen: sources.runtimes.filter(({ isFrozen }) => isFrozen === true),
    questions: [...asked.map(({ session, asker }) => session ?? asker), ...askingHere(sources.whys)],
    whys: sources.whys,
    circuits: sources.integrations.map((each) => ({
      ...each,
      integration: each.key,
      isPaused: isPaused(each, sources.at),
    })),
    alerts: sources.alerts
      .filter(({ state }) => state !== 'cleared')
      .map(({ integration, note, state }) => ({ integration, note, isWatched: state === 'open' })),
  });
  const ofCircuits = new Map(needs.flatMap((each) => (each.kind === 'open_circuit' ? [[each.name, each]] : [])));
  const alerted = new Set(needs.flatMap(({ kind, name }) => (kind === 'alert' ? [name] : [])));
  const children = sources.trees.flatMap(({ answer }) => (answer === undefined ? [] : [...childrenOf(answer)]));
  const waits = [
    ...asked.map(questionWait),
    ...sources.dead.map((each) => deadWait(each, sources.pending)),
    ...sources.runtimes.filter(({ isFrozen }) => isFrozen === true).map((each) => frozenWait(each, sources)),
    ...sources.integrations
      .flatMap((each) => circuitWait(each, sources.at) ?? [])
      .map((each) => asNeeded(each, ofCircuits.get(each.name))),
    ...children.flatMap((child) => childWait(child, sources) ?? []),
    ...sources.whys.flatMap((why) => sessionWaits(why, sources)),
  ];
  const letters = lettersWait(sources.letters);
  // A crash loop needs a person, though each restart is one that a rule makes: else its alert would come and go with each.
  const told = new Set(
    waits.flatMap(({ of, sign, name }) =>
      sign === 'budget' ? [`session:${name}`] : of === 'integration' && sign !== 'crashed' ? [name] : [],
    ),
  );
  const alerts = sources.alerts.filter(
    ({ state, integration }) => state !== 'cleared' && alerted.has(integration) && !told.has(integration),
  );
  return [...waits, ...letters, ...alerts.map(alertWait)];
}

/** A person can answer it on the page, until its deadline. */
function questionWait({ id, asker, session, what, detail, form, askedAt, deadlineAt }: Question): Wait {
  return {
    ...{ key: `asked ${id}`, name: session ?? asker, of: session === undefined ? 'question' : 'session' },
    ...{ needsPerson: true, sign: 'asks', text: `${asker === session ? 'Asks' : `${asker} asks`} a person: ${what}` },
    ...{ error: detail === undefined ? undefined : JSON.stringify(detail), question: { id, form } },
    ...{ since: askedAt, rule: 'Declined', endsAt: deadlineAt },
  };
}

/** An open circuit that has raised an alert is somebody's matter, though a probe may end it. */
function asNeeded(wait: Wait, need: Need | undefined): Wait {
  const hurt = hurtText(need?.sessions);
  return {
    ...wait,
    needsPerson: need === undefined ? wait.needsPerson : need.severity === 'bad',
    ...(hurt !== '' && { text: `${wait.text.replace(/\.$/, '')}; ${hurt}.` }),
  };
}

/** Its server asked not to be called: what opened it is over, as its server has answered since. */
function isPaused({ pausedUntil = 0, probeAt }: IntegrationLine, at: number): boolean {
  return pausedUntil > Math.max(at, probeAt ?? 0);
}

/** Nothing goes on until it is started again. */
function deadWait({ key, name, pid, lastSignAt }: DeadLine, pending: PendingRecords): Wait {
  return {
    ...{ key: `dead ${key}`, name, of: 'gateway', needsPerson: true, sign: 'dead', since: lastSignAt },
    text: `Its process (pid ${pid}) ended without a word. Start it again: it takes up what is left.${pendingText(pending)}`,
  };
}

/** Makes one row for all of them: each has its own on the page of dead letters. */
function lettersWait(letters: WaitSources['letters']): readonly Wait[] {
  const [first] = letters;
  if (first === undefined) return [];
  const sessions = new Set(letters.map(({ session }) => session)).size;
  const name = count(letters.length, 'dead letter');
  const of = sessions === 1 ? `the session ${first.session}` : `${sessions} sessions`;
  return [
    {
      ...{ key: 'letters', name, of: 'letters', needsPerson: true, sign: 'letters' },
      text: `Nobody processes what was accepted for ${of}, unless it is sent again.`,
      since: Math.min(...letters.map(({ postedAt, endedAt = postedAt }) => endedAt)),
    },
  ];
}

/** Describes the work on record that nobody does now. */
function pendingText({ calls, messages }: PendingRecords): string {
  const counts = [count(calls, 'call'), count(messages, 'message')].filter((each) => each !== '').join(' and ');
  return counts === '' ? '' : ` On record as pending: ${counts}.`;
}

/** It may go on as if nothing had been, or never: no rule of ours runs in it. */
function frozenWait({ key, name, problem = '' }: RuntimeLine, { frozenSince, pending }: WaitSources): Wait {
  return {
    ...{ key: `frozen ${key}`, name, of: 'gateway', needsPerson: true, sign: 'frozen', since: frozenSince.get(key) },
    text: `Does not answer: ${problem.replaceAll('`', '')}.${pendingText(pending)}`,
  };
}

function circuitWait(line: IntegrationLine, at: number): Wait | undefined {
  const { key, circuit, cause, probeAt, pausedUntil, openedAt, waiting, lastError } = line;
  const error = cause ?? (lastError && { kind: lastError.kind, message: lastError.error });
  const base = {
    ...{ key: `circuit ${key}`, name: key, of: 'integration' as const, since: openedAt },
    error: error && `${error.kind === undefined ? '' : `${error.kind}: `}${error.message}`,
  };
  const behind = waiting === 0 ? '' : ` ${waiting} ${waiting === 1 ? 'call waits' : 'calls wait'}.`;
  const waits = (text: string, more: Partial<Wait>): Wait => {
    return { ...base, needsPerson: false, sign: 'open', text: `${text}.${behind}`, ...more };
  };
  if ((circuit === 'open' || circuit === 'half-open') && isPaused(line, at)) {
    const paused = { error: undefined, rule: 'Next probe', endsAt: pausedUntil };
    return waits('Its server asked not to be called: calls are refused', paused);
  }
  switch (circuit) {
    case 'isolated': {
      const held = { needsPerson: true, sign: 'isolated', order: 'reset' } as const;
      return waits('An operator holds the circuit open: calls are refused', held);
    }
    case 'open': {
      // Nothing happens by itself once the time is over: it takes a call.
      const isDue = probeAt !== undefined && probeAt <= at;
      const next = isDue ? { rule: 'The next call tries it' } : { rule: 'Next probe', endsAt: probeAt };
      return waits(`${openedText(cause)}: calls are refused`, next);
    }
    case 'half-open':
      return waits('A probe tries the open circuit', { rule: 'The probe decides' });
    case 'closed':
    case 'crashed':
      return undefined;
  }
}

/** A circuit that was kept without its rule says how many failures of it are known. */
function openedText(cause: BreakerCause | undefined): string {
  if (cause?.rule !== undefined) return `Circuit open (${breakerRuleText(cause.rule)})`;
  const count = cause?.failures.length ?? 0;
  return count < 2 ? 'Circuit open' : `Circuit open after ${count} failures`;
}

function* childrenOf(node: TreeNode): Generator<TreeNode> {
  for (const child of node.children ?? []) {
    yield child;
    yield* childrenOf(child);
  }
}

function childWait(child: TreeNode, { at, times, shown }: WaitSources): Wait | undefined {
  const isQuarantined = child.state === 'quarantined';
  if (!isQuarantined && child.nextRestartInMs === undefined) return undefined;
  const session = /^session:(.*)$/s.exec(child.id)?.[1];
  const name = shown(session ?? child.id.replace(/^(?:mcp|integration):/, ''));
  const crashes = `${child.restarts} ${child.restarts === 1 ? 'restart' : 'restarts'} so far`;
  const of = session === undefined ? 'integration' : 'session';
  const base = { key: `child ${of} ${name}`, name, of, error: child.lastError } as const;
  if (isQuarantined && child.nextRestartInMs === undefined) {
    const text = `In quarantine: it crashed too often (${crashes}). No restart is planned.`;
    return { ...base, needsPerson: true, sign: 'quarantined', order: 'restart', text };
  }
  return {
    ...{ ...base, needsPerson: false, sign: isQuarantined ? 'quarantined' : 'crashed' },
    text: isQuarantined
      ? `In quarantine for a time: it crashed too often (${crashes}).`
      : `Crashed; it is started again (${crashes}).`,
    ...{ rule: 'Next restart', endsAt: times.of(base.key, at + (child.nextRestartInMs ?? 0)) },
  };
}

function sessionWaits(why: SessionWhy, { at, times }: WaitSources): readonly Wait[] {
  const { session: name, turn, questions, calls, next, spinning, recovering = [] } = why;
  const [open] = recovering;
  if (open !== undefined) return [recoveryWait(name, open, recovering.length, { at, times })];
  const own = questions.filter(({ inbox }) => inbox !== true);
  const asks = own.map((question, index): Wait => {
    const key = `question ${name} ${index}`;
    return {
      ...{ key, name, of: 'session', needsPerson: true, sign: 'asks', text: `Asks a person: ${question.what}` },
      ...(question.deadlineInMs !== undefined && {
        rule: 'Given up',
        endsAt: times.of(key, at + question.deadlineInMs),
      }),
      since: times.of(`since ${key}`, at - question.sinceMs),
    };
  });
  if (questions.length > 0 || turn === undefined) return asks;
  const key = `session ${name}`;
  const base = { key, name, of: 'session', since: times.of(`since ${key}`, at - turn.sinceMs) } as const;
  const unpaid = waitsForBudget(why);
  if (unpaid !== undefined)
    return [
      {
        ...{ ...base, needsPerson: true, sign: 'budget', text: `${unpaid.tool} ${unpaid.waitsFor ?? ''}.` },
        ...{ order: 'budget', target: higherLimit(unpaid.waitsFor) },
      },
    ];
  const ends = next && { rule: ruleText(next.rule), endsAt: times.of(key, at + next.inMs) };
  if (spinning !== undefined) {
    const { message: text, answer: error } = spinning;
    return [{ ...base, needsPerson: false, sign: 'spinning', text: `${text}.`, error, ...ends }];
  }
  if (next === undefined) return [];
  const slow = calls.filter(isInTrouble);
  if (slow.length === 0 && (calls.length > 0 || turn.sinceMs < longTurnMs)) return [];
  const [first] = slow;
  const failure = first?.progress?.lastFailure;
  return [
    {
      ...{ ...base, needsPerson: false, sign: first === undefined ? 'calling' : 'backoff' },
      text: first === undefined ? 'Its turn goes on without a call.' : callText(first, slow.length),
      error: failure && `${failure.kind}: ${failure.message}`,
      ...ends,
    },
  ];
}

/** Its messages wait for it. */
function recoveryWait(
  name: string,
  { sinceMs, progress }: ToolCallWhy,
  calls: number,
  { at, times }: Pick<WaitSources, 'at' | 'times'>,
): Wait {
  const key = `session ${name}`;
  const what = calls === 1 ? 'a call' : `${calls} calls`;
  return {
    ...{ key, name, of: 'session', needsPerson: false, sign: 'recovering' },
    text: `Finds out what became of ${what} of an earlier process.`,
    since: times.of(`since ${key}`, at - sinceMs),
    ...(progress !== undefined && {
      rule: ruleText(progress.next.rule),
      endsAt: times.of(key, at + progress.next.inMs),
    }),
  };
}

function isInTrouble({ progress }: ToolCallWhy): boolean {
  if (progress === undefined) return false;
  return progress.phase !== 'in_flight' || progress.attempt > 1 || (progress.silentMs ?? 0) >= longSilenceMs;
}

function callText({ integration, tool, progress }: ToolCallWhy, count: number): string {
  const others = count > 1 ? `, and ${count - 1} more` : '';
  const { phase = 'in_flight', attempt = 0, maxAttempts = 0 } = progress ?? {};
  return `${tool} in ${integration} ${phases[phase]}, attempt ${attempt} of ${maxAttempts}${others}.`;
}

const phases: Readonly<Record<NonNullable<ToolCallWhy['progress']>['phase'], string>> = {
  in_flight: 'is in flight',
  backoff: 'backs off',
  pause: 'waits for the end of a pause that the server asked for',
  restart: 'waits for a restart',
  permit: 'waits for a permit',
  probe: 'waits for a probe of the circuit',
  scope: 'waits for the run of its scope to end',
  suspect: 'waits for a sign of life of the server',
  rate: 'waits for its rate limit',
  reconciling: 'waits to know whether it happened',
};

/** Names the end of a wait, as the page shows it before the time. */
function ruleText(rule: NonNullable<SessionWhy['next']>['rule']): string {
  return named[rule] ?? rule.replaceAll('_', ' ');
}

const named: Readonly<Partial<Record<NonNullable<SessionWhy['next']>['rule'], string>>> = {
  tool_call: 'Watchdog ends the call',
  turn: 'Watchdog ends the turn',
  question: 'Given up',
  next_attempt: 'Next attempt',
  restart_wait: 'Waits no longer',
  rate_limit: 'Room in the limit',
  reconcile: 'Next word on whether it happened',
  idle_timeout: 'Idle limit',
  ping: 'Its server is pinged',
  attempt_timeout: 'Limit of the attempt',
  overall_timeout: 'Limit of the call',
};

function alertWait({ key, integration, state, text, failures, crashes, raisedAt, rule, endsAt }: AlertLine): Wait {
  const counts = [count(failures, 'failure'), count(crashes, 'crash', 'es')].filter((each) => each !== '').join(', ');
  // Of a budget it has the scope.
  const [, kind, scoped] = (counts === '' && /^(session|api|run):(.*)$/s.exec(integration)) || [];
  const about = { name: scoped ?? integration, of: kind === 'session' ? 'session' : 'integration' } as const;
  return {
    ...{ key: `alert ${key}`, ...about, needsPerson: true, sign: 'alert' },
    text: `${state === 'open' ? 'Alert' : 'Alert, with nobody to watch'}: ${counts || 'its budget is spent'}.`,
    ...{ error: text, since: raisedAt, rule, endsAt },
    // A run that spent its budget has ended.
    ...(counts === '' && kind !== 'run' && { order: 'budget', target: higherLimit(text) }),
  };
}

function count(number: number, word: string, plural = 's'): string {
  return number === 0 ? '' : `${number} ${word}${number === 1 ? '' : plural}`;
}
