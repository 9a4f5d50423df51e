import type { Outcome } from '../../src/policy/failures/failure.ts';
import { sessionMachine, type SessionRef } from '../../src/machines/session.ts';
import type { Acceptance } from '../../src/sessions/acceptance.ts';
import { SupervisedSession } from '../../src/sessions/supervisedSession.ts';
import type { ToolResult } from '../../src/sessions/toolResult.ts';
import type { Turn } from '../../src/sessions/turn.ts';
import type { CallRow } from './callRow.ts';
import { processMessage } from './handler.ts';
import { randomEffect, randomWatchdog, type Watchdog } from './policies.ts';
import type { World } from './world.ts';

/** One message as its sender and its handler know it. */
export interface MessageRow {
  readonly name: string;
  readonly kind: string;
  refused: boolean;
  /** A newer heartbeat took its place. */
  dropped: boolean;
  takenAt: number | undefined;
  /** The last sign of progress of its turn. */
  progressAt: number;
  pendingTools: number;
  outcome: Outcome<unknown> | undefined;
}

/** One tool call as its handler knows it; also the input it is made with, by which the history is read. */
export interface ToolRow {
  readonly name: string;
  /** The message whose handler made it. */
  readonly message: MessageRow;
  readonly startedAt: number;
  readonly dueAt: number;
  result: ToolResult | undefined;
  /** What the integration knows of it, unless it never got there. */
  call: CallRow | undefined;
}

/** How long a session's actor may be away after a crash: the longest restart backoff with its jitter, in ms. */
const longestAwayMs = 36_000;

/** A session of the world with the books of its sender and its handler. */
export class SimulatedSession {
  readonly id: string;
  readonly session: SupervisedSession;
  readonly watchdog: Watchdog;
  readonly tools = new Set<ToolRow>();
  current: MessageRow | undefined = undefined;
  /** Accepted and not taken, in order. */
  #queue: MessageRow[] = [];
  /** Since when it has no actor. */
  #awaySince: number | undefined = 0;
  readonly #world: World;
  readonly #mailboxLimit: number;
  readonly #ids = new Set<string>();
  /** Length of the trace when its history was last looked at. */
  #historySeenAt = -1;
  #lastName = 0;

  constructor(world: World, id: string) {
    const { chance, runtime } = world;
    this.#world = world;
    this.id = id;
    this.watchdog = randomWatchdog(chance);
    this.#mailboxLimit = chance.integer(1, 20);
    this.session = new SupervisedSession(
      { id, clock: runtime.clock, deadlines: runtime.deadlines, facts: runtime.bus, tools: world.tools },
      {
        onMessage: ({ data }, turn) => this.#process(data as MessageRow, turn),
        watchdog: this.watchdog,
        historyLimit: chance.integer(1, 50),
        mailbox: {
          limit: this.#mailboxLimit,
          heartbeats: chance.pick(['refuse', 'drop_oldest']),
          coalesceHeartbeats: chance.happens(0.2),
        },
      },
    );
    runtime.supervise({
      id: `session:${id}`,
      logic: sessionMachine,
      input: { session: id, ...this.session.limits },
      shutdown: this.watchdog.releaseMs + 1000,
      onStart: (ref, incarnation) => {
        this.#awaySince = undefined;
        this.session.attach(ref as SessionRef, incarnation);
      },
      onExit: () => {
        this.#awaySince = world.clock.now();
      },
    });
  }

  send(kind: string): void {
    const { trace } = this.#world;
    const row: MessageRow = {
      name: `${this.id}.${++this.#lastName}`,
      kind,
      refused: false,
      dropped: false,
      takenAt: undefined,
      progressAt: 0,
      pendingTools: 0,
      outcome: undefined,
    };
    trace.note(`send ${row.kind} ${row.name}`);
    const waiting = this.#queue.length;
    this.#queue.push(row);
    void this.session.send({ kind, data: row }).then((acceptance) => this.#accepted(row, acceptance, waiting));
  }

  /** The heartbeat that has waited longest makes room. */
  dropped(): void {
    const oldest = this.#queue.find(({ kind }) => kind === 'heartbeat');
    if (oldest === undefined) return;
    oldest.dropped = true;
    this.#leaveQueue(oldest);
  }

  /** Makes a tool call and keeps its books. */
  async tool(row: MessageRow, turn: Turn): Promise<void> {
    const { chance, clock, integrations, judge, trace } = this.#world;
    const integration = chance.happens(0.05) ? 'nowhere' : chance.pick(integrations).name;
    const name = `${this.id}.tool${++this.#lastName}`;
    const longRunningMs = chance.happens(0.15) ? chance.span(50, 600_000) : undefined;
    const limitMs = longRunningMs ?? this.watchdog.toolCallMs;
    const startedAt = clock.now();
    const tool: ToolRow = {
      name,
      message: row,
      startedAt,
      dueAt: startedAt + limitMs,
      result: undefined,
      call: undefined,
    };
    trace.note(`${row.name} calls ${integration} as ${name} within ${limitMs}`);
    this.tools.add(tool);
    row.pendingTools++;
    row.progressAt = startedAt;
    const signal = chance.happens(0.15) ? this.#world.signal() : undefined;
    tool.result = await turn.tool(integration, name, tool, { effect: randomEffect(chance), longRunningMs, signal });
    this.tools.delete(tool);
    row.pendingTools--;
    row.progressAt = clock.now();
    const { result, call } = tool;
    trace.note(`${name} gives ${result.status === 'ok' ? 'ok' : result.error}`);
    judge.expect(!judge.overdue(tool.dueAt), 'G-6', () => `${name} was due at ${tool.dueAt}`);
    const answered = result.status !== 'ok' || (call?.outcome?.ok === true && call.outcome.value === result.value);
    judge.expect(answered, 'I-1', () => `${name} gives a value that its integration did not`);
  }

  check(): void {
    const { judge, clock, stopped, quarantined } = this.#world;
    for (const { name, message, dueAt } of this.tools) {
      judge.expect(!judge.overdue(dueAt), 'G-6', () => `${name} was due at ${dueAt} and has no result`);
      judge.expect(message.outcome === undefined, 'G-12', () => `${name} has no result after the end of its turn`);
    }
    this.#checkHistory();
    if (stopped || !this.#world.started) return;
    if (this.#awaySince !== undefined) {
      const away = !quarantined.has(`session:${this.id}`) && judge.overdue(this.#awaySince + longestAwayMs);
      judge.expect(!away, 'V-1', () => `${this.id} has no actor since ${this.#awaySince}`);
      return;
    }
    const { current } = this;
    if (current !== undefined) this.#checkTurn(current);
    else
      judge.expect(
        this.#queue.length === 0,
        'I-2',
        () => `${this.id} is ${this.session.state} at ${clock.now()} and does not take ${this.#queue[0]?.name}`,
      );
  }

  /** After the stop: everything is settled. */
  checkStopped(): void {
    const { judge } = this.#world;
    const open = [...this.#queue, ...(this.current === undefined ? [] : [this.current])];
    judge.expect(open.length === 0, 'I-1', () => `${open[0]?.name} has not ended with its session`);
    judge.expect(this.tools.size === 0, 'I-1', () => `${[...this.tools][0]?.name} has no result after the stop`);
    const calls = this.session.history.filter(({ type }) => type === 'tool_call').length;
    const results = this.session.history.filter(({ type }) => type === 'tool_result').length;
    judge.expect(calls === results, 'G-12', () => `${this.id} has ${calls} tool calls and ${results} results`);
  }

  #accepted(row: MessageRow, acceptance: Acceptance, waiting: number): void {
    const { judge, refusing } = this.#world;
    if (!acceptance.accepted) {
      row.refused = true;
      this.#leaveQueue(row);
      const why = acceptance.reason === 'stopped' ? refusing : waiting >= this.#mailboxLimit;
      judge.expect(why, 'G-9', () => `${row.name} is refused (${acceptance.reason}) with ${waiting} waiting`);
      return;
    }
    const joined = this.#ids.has(acceptance.id);
    this.#ids.add(acceptance.id);
    if (joined) this.#leaveQueue(row);
    else void acceptance.processed.then((outcome) => this.#processed(row, outcome));
  }

  #processed(row: MessageRow, outcome: Outcome<unknown>): void {
    const { judge, refusing, trace } = this.#world;
    trace.note(`${row.name} is processed: ${outcome.ok ? 'ok' : outcome.failure.kind}`);
    row.outcome = outcome;
    if (this.current === row) this.current = undefined;
    if (row.takenAt !== undefined) return;
    this.#leaveQueue(row);
    judge.expect(refusing || row.dropped, 'I-5', () => `${row.name} was accepted and dropped`);
  }

  #leaveQueue(row: MessageRow): void {
    this.#queue = this.#queue.filter((each) => each !== row);
  }

  #process(row: MessageRow, turn: Turn): Promise<unknown> {
    const { judge, clock, refusing, trace } = this.#world;
    trace.note(`${row.name} is taken`);
    judge.expect(this.current === undefined, 'G-4', () => `${row.name} is taken beside ${this.current?.name}`);
    judge.expect(this.#queue[0] === row, 'G-4', () => `${row.name} is taken before ${this.#queue[0]?.name}`);
    judge.expect(!refusing, 'I-3', () => `${row.name} is taken after the stop`);
    this.#leaveQueue(row);
    row.takenAt = clock.now();
    row.progressAt = clock.now();
    this.current = row;
    return processMessage(this.#world, this, row, turn);
  }

  #checkTurn({ name, pendingTools, progressAt }: MessageRow): void {
    const { judge } = this.#world;
    if (pendingTools > 0) return;
    // Judged from when the loop ran again: the release has its whole time from there.
    const turnMs = this.watchdog.turnMs + judge.stalledSince(progressAt);
    const stalledAt = Math.max(progressAt + turnMs, judge.resumedAt);
    const late = judge.overdue(stalledAt + this.watchdog.releaseMs);
    judge.expect(!late, 'I-2', () => `the turn of ${name} has not progressed since ${progressAt} and was not released`);
  }

  #checkHistory(): void {
    const { judge, trace } = this.#world;
    // Nothing has happened since it was looked at.
    if (trace.length === this.#historySeenAt) return;
    this.#historySeenAt = trace.length;
    const results = new Map<string, ToolResult>();
    const calls = new Map<string, ToolRow>();
    for (const entry of this.session.history) {
      if (entry.type === 'tool_call') calls.set(entry.call, entry.input as ToolRow);
      else if (entry.type === 'tool_result') {
        const called = calls.has(entry.call);
        judge.expect(called, 'G-12', () => `the history of ${this.id} has a result without a call: ${entry.call}`);
        judge.expect(!results.has(entry.call), 'G-12', () => `${entry.call} has two results`);
        results.set(entry.call, entry.result);
      }
    }
    for (const [call, tool] of calls) {
      const same = tool.result === undefined || results.get(call) === tool.result;
      judge.expect(same, 'G-12', () => `the history has another result of ${tool.name} than its agent`);
    }
  }
}
