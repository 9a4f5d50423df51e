import type { Fact, Told } from '../../policy/facts.ts';
import type {
  CallRecovery,
  Claim,
  LostCall,
  Past,
  Recovered,
  RecoveryLimits,
  SessionStore,
} from '../../sessions/sessionStore.ts';
import { toJson } from '../json.ts';
import type { RuntimeIdentity } from '../runtimes.ts';
import { historyOf, judgeUnprocessed, lostCall } from '../sessionRows.ts';
import type { WriteQueue } from '../writeQueue.ts';
import type { MemoryCall, MemoryDatabase, MemorySession } from './memoryDatabase.ts';
import { MemoryLedger, type MemoryWrite } from './memoryLedger.ts';

type Taken =
  | { readonly held: true; readonly by: string }
  | { readonly held: false; readonly session: MemorySession; readonly recovered: Recovered };

/** Surroundings that the sessions of every runtime on one memory share. */
interface MemorySessionScope {
  readonly database: MemoryDatabase;
  readonly queue: WriteQueue<MemoryWrite>;
  readonly record: (fact: Told<Fact>) => void;
}

/**
 * Sessions in memory, for one runtime. `durable` is what outlives the runtime: in a simulation runtimes end and their database goes on. A gateway
 * keeps no sessions in memory, as their process has nothing to come back to.
 */
export class MemorySessions implements SessionStore {
  readonly #scope: MemorySessionScope;
  readonly #runtime: RuntimeIdentity;

  constructor(scope: MemorySessionScope, runtime: RuntimeIdentity) {
    this.#scope = scope;
    this.#runtime = runtime;
  }

  async claim(id: string, limits: RecoveryLimits): Promise<Claim | undefined> {
    const taken = await this.#transact(() => this.#take(id, limits));
    if (taken === undefined || taken.held) return taken;
    const { session, recovered } = taken;
    const ledger = new MemoryLedger(this.#scope, id, session, this.#runtime.id);
    return { held: false, ledger, recovered, past: (historyLimit) => pastOf(id, session, historyLimit) };
  }

  async recoverCalls({ fact, ...limits }: CallRecovery): Promise<readonly LostCall[]> {
    const recovered = await this.#transact(() => {
      const lost = [...this.#scope.database.sessions.values()].flatMap((session) => {
        const calls = settleLost(
          session,
          limits,
          ({ runtime, rule }) => rule === undefined && runtime !== this.#runtime.id && !this.#lives(runtime),
        );
        // Its runtime may only have stood still: what it then writes would be a second result.
        if (calls.length > 0) session.fence++;
        return calls;
      });
      this.#record(limits.wallNow, lost.map(fact));
      return lost;
    });
    return recovered ?? [];
  }

  async unowned(most: number): Promise<readonly string[]> {
    const isOpen = ({ messages, calls }: MemorySession): boolean =>
      [...messages.values()].some(({ state }) => state !== 'over') ||
      [...calls.values()].some(({ settled }) => settled === undefined);
    const isFree = ({ owner }: MemorySession): boolean =>
      owner === undefined || (owner !== this.#runtime.id && !this.#lives(owner));
    const all = [...this.#scope.database.sessions];
    return all.flatMap(([id, session]) => (isFree(session) && isOpen(session) ? [id] : [])).slice(0, most);
  }

  #take(id: string, limits: RecoveryLimits): Taken {
    const { sessions } = this.#scope.database;
    const session = sessions.get(id) ?? newSession();
    sessions.set(id, session);
    const { owner } = session;
    if (owner !== undefined && owner !== this.#runtime.id && this.#lives(owner)) return { held: true, by: owner };
    session.owner = this.#runtime.id;
    session.fence++;
    const isKept = (row: MemoryCall): boolean => limits.keeps?.(lostCall(row)) === true;
    const pending = [...session.calls.values()].filter(({ settled }) => settled === undefined);
    const kept = pending.filter(isKept).map(lostCall);
    const lost = settleLost(session, limits, (row) => !isKept(row));
    const open = [...session.messages.values()].filter(({ state }) => state !== 'over');
    const { recovered: messages } = judgeUnprocessed(open, limits);
    for (const { number, reason } of messages.deadLetters)
      Object.assign(session.messages.get(number) ?? {}, { state: 'over', dead: reason });
    const recovered = { ...messages, lost, open: kept };
    this.#record(limits.wallNow, limits.facts(recovered));
    return { held: false, session, recovered };
  }

  #lives(owner: string): boolean {
    const run = this.#scope.database.runtimes.get(owner);
    return run !== undefined && this.#runtime.isAlive(run);
  }

  #record(at: number, facts: readonly Fact[]): void {
    for (const fact of facts) this.#scope.record({ ...fact, at });
  }

  /** Behind the writes made before; undefined when the store is closed. */
  #transact<T>(work: () => T): Promise<T | undefined> {
    return new Promise((resolve) => {
      let result: T | undefined;
      this.#scope.queue.add({
        run() {
          result = work();
        },
        committed: () => resolve(result),
        postponed: () => resolve(undefined),
      });
    });
  }
}

function newSession(): MemorySession {
  return { owner: undefined, fence: 0, messages: new Map(), calls: new Map(), lastTurn: 0, lastSeq: 0 };
}

/** Answers pending calls: those whose runtime died. */
function settleLost(
  session: MemorySession,
  { wallNow, answer }: Pick<RecoveryLimits, 'wallNow' | 'answer'>,
  isLost: (call: MemoryCall) => boolean,
): readonly LostCall[] {
  const pending = [...session.calls.values()].filter((call) => call.settled === undefined && isLost(call));
  return pending.map((row) => {
    const call = lostCall(row);
    row.settled = { result: toJson(answer(call)), seq: ++session.lastSeq, at: wallNow };
    return call;
  });
}

function pastOf(id: string, { messages, calls, lastTurn, lastSeq }: MemorySession, historyLimit: number): Past {
  const rows = [...messages.values()];
  return {
    history: historyOf(id, rows, [...calls.values()], historyLimit),
    keys: rows.flatMap(({ key, number }) => (key === undefined ? [] : [[key, number] as const])),
    lastMessage: Math.max(0, ...messages.keys()),
    lastTurn,
    lastSeq,
  };
}
