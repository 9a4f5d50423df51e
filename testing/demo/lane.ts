import { type HistoryEntry, type Outcome, systemClock, type Turn } from '../../src/index.ts';
import type { EventRow } from '../../src/store/face.ts';
import { type Fault, type LaneName, type Stage, usualMostMs } from './fault.ts';
import { MessageLog, type MessageTally } from './messageLog.ts';
import { notes } from './notes.ts';
import { overdue, pause, within } from './pause.ts';
import { belongs, type FaultReport, reportFault } from './report.ts';
import { type Answer, differences, type Retry } from './expectation.ts';
import { watchdogMs } from './watchdogFault.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';

/** A session, and the faults that befall it one after the other. */
export interface Lane {
  /** Injects the faults. Ends early when the tour does; never rejects otherwise. */
  run(onFault: (report: FaultReport) => void): Promise<void>;
  readonly tally: MessageTally;
  /** Problems with its messages. */
  readonly problems: readonly string[];
}

/** Between two heartbeats of a session, in ms. */
const heartbeatMs = 100;

type Job = (turn: Turn) => unknown;

/** Declares the session of a lane. */
export function createLane(stage: Stage, name: LaneName, faults: readonly Fault[]): Lane {
  const { gateway, signal } = stage;
  const id = `agent:${name}`;
  const log = new MessageLog();
  const jobs = new Map<number, Job>();
  const problems: string[] = [];
  let retries: Retry[] = [];

  const session = gateway.session(id, {
    watchdog: name === 'watchdog' ? { toolCallMs: watchdogMs } : {},
    onMessage: ({ kind, data }, turn) => {
      const { number } = data as { readonly number: number };
      log.took(kind, number);
      return jobs.get(number)?.(turn);
    },
  });
  gateway.on('call.retried', ({ session: caller, message, delayMs }) => {
    if (caller !== id) return;
    retries.push({ message, delayMs });
    log.retrying();
    beat();
  });
  gateway.on('session.turn_ended', (fact) => {
    if (fact.session === id) log.turnEnded();
  });

  async function post(kind: 'heartbeat' | 'user', job?: Job): Promise<Outcome<unknown>> {
    const number = log.send(kind);
    if (job !== undefined) jobs.set(number, job);
    const acceptance = await session.send({ kind, data: { number } });
    if (!acceptance.accepted) throw new Error(`the session refused a message: ${acceptance.reason}`);
    return acceptance.processed;
  }

  function beat(): void {
    // A message that is not processed shows in the log.
    post('heartbeat').catch(() => undefined);
  }

  async function keepBeating(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      beat();
      await pause(heartbeatMs, until);
    }
  }

  /** A message whose turn does the job, and what came of it within the limit. Throws when the session refuses it. */
  async function ask<T>(limitMs: number, job: (turn: Turn) => Promise<T>): Promise<Answer<T>> {
    let answer: Answer<T> | undefined;
    const processed = post('user', async (turn) => {
      answer = { ok: true, value: await job(turn) };
    });
    const outcome = await within(processed, limitMs);
    if (outcome === overdue) return { ok: false, why: `no answer within ${formatDuration(limitMs)}` };
    return answer ?? { ok: false, why: outcome.ok ? 'no answer' : outcome.failure.message };
  }

  async function answersStill(text: string): Promise<boolean> {
    const answer = await ask(usualMostMs, (turn) => turn.tool(notes, 'echo', text));
    return answer.ok && answer.value.status === 'ok' && answer.value.value === text;
  }

  async function inject(fault: Fault): Promise<FaultReport> {
    const { prepare, settle, expected, integration } = fault;
    const { mostMs = usualMostMs } = expected;
    const ready = prepare === undefined ? undefined : await ask(mostMs, prepare);
    const mark = (await stored()).at(-1)?.id ?? 0;
    retries = [];
    let startedAt = systemClock.now();
    let endedAt: number | undefined;
    let heartbeats = log.heartbeatsProcessed;
    const answer = await ask(mostMs, async (turn) => {
      startedAt = systemClock.now();
      try {
        return await fault.run(turn, stage);
      } finally {
        endedAt = systemClock.now();
        heartbeats = log.heartbeatsProcessed;
      }
    });
    const elapsedMs = (endedAt ?? systemClock.now()) - startedAt;
    const struck = retries;
    const wentOn = await answersStill(fault.name);
    heartbeats = log.heartbeatsProcessed - heartbeats;
    const behind = await settle?.(stage);
    const records = (await stored(mark)).filter((row) => belongs(row, fault, id));
    const observed = { integration, answer, elapsedMs, retries: struck, wentOn, records };
    const problems = [
      ...(ready === undefined || (ready.ok && ready.value.status === 'ok') ? [] : ['it did not work before the fault']),
      ...differences(expected, observed),
      ...(behind === undefined ? [] : [behind]),
    ];
    return reportFault(fault, observed, heartbeats, problems);
  }

  async function stored(after?: number): Promise<readonly EventRow[]> {
    await gateway.store?.flush();
    return (await gateway.store?.read(after === undefined ? { limit: 1 } : { after, limit: 10_000 })) ?? [];
  }

  return {
    async run(onFault) {
      const done = new AbortController();
      const beating = keepBeating(AbortSignal.any([signal, done.signal]));
      try {
        for (const fault of faults) {
          const found = await inject(fault);
          if (signal.aborted) return;
          onFault(found);
        }
        done.abort();
        await beating;
        if (!(await answersStill('a last message'))) problems.push('it did not answer its last message');
      } catch (error) {
        // Stopped on request, it refuses.
        if (!signal.aborted) problems.push(messageOf(error));
      } finally {
        done.abort();
      }
    },
    get tally() {
      return log.tally;
    },
    get problems() {
      return [...problems, ...log.problems, ...unpaired(session.history)].map((problem) => `${id}: ${problem}`);
    },
  };
}

/** Every tool call has exactly one result. */
function unpaired(history: readonly HistoryEntry[]): string[] {
  const calls = history.filter(({ type }) => type === 'tool_call').length;
  const results = history.filter(({ type }) => type === 'tool_result').length;
  return calls === results ? [] : [`${calls} tool calls have ${results} results`];
}
