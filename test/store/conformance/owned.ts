import type {
  Claim,
  LostCall,
  Past,
  Recovered,
  RecoveryLimits,
  SessionLedger,
  SessionStore,
  StoredCall,
} from '../../../src/sessions/sessionStore.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { type Engine, type StartedEngine, settled } from './engine.ts';
import { sessionsOf } from '../startStore.ts';

export const now = Date.UTC(2026, 0, 1);
export const lost: ToolResult = { status: 'error', error: 'lost', retries: 0, recoverable: false };
export const limits = (more: Partial<RecoveryLimits> = {}): RecoveryLimits => ({
  maxDeliveries: 3,
  maxAgeMs: 1000,
  wallNow: now,
  answer: () => lost,
  facts: () => [],
  ...more,
});

const factOf = (call: LostCall): Fact => ({ type: 'session.held', session: call.session, by: call.call });
/** What `recoverCalls` takes. */
export const calls = { ...limits(), fact: factOf };

export const message = (number: number, key?: string) => ({
  number,
  message: { kind: 'user', text: `text ${number}` },
  key,
  at: now,
});

export const call = (id: string, seq: number, turn = 1): StoredCall => ({
  call: id,
  turn,
  integration: 'kb',
  tool: 'query',
  input: { q: id },
  effect: 'readOnly',
  seq,
  at: now,
  deadlineAt: now + 300_000,
});

/** An engine with as many runtimes on it as a test needs. */
export interface Runtimes extends Pick<StartedEngine, 'settle' | 'deliveries' | 'damage'> {
  /** A runtime that is entered and alive. */
  runtime(id: string): SessionStore;
  /** Ends a runtime as `kill -9` would: what it has committed stays. */
  kill(id: string): Promise<void>;
  /** What is told in facts and committed: the type of each. */
  recorded(): Promise<readonly string[]>;
}

export async function start(engineOf: Engine): Promise<Runtimes> {
  const { one, two, ...started } = await engineOf.start();
  const dead = new Set<string>();
  let runtimes = 0;
  return {
    ...started,
    runtime(id) {
      // By turns through one store and the other.
      const store = runtimes++ % 2 === 0 ? one : two;
      const about = { pid: 1, processStart: '', startedAt: now, renewedAt: now, name: id, socket: undefined };
      store.runtimes.enter({ id, ...about });
      return sessionsOf(store, { id, isAlive: (run) => !dead.has(run.id) });
    },
    async kill(id) {
      dead.add(id);
      await started.outlive(id);
    },
    recorded: async () => (await one.read({ limit: 100 })).map(({ type }) => type),
  };
}

/** The answer to a claim of the session `s`. */
export async function claim(engine: Runtimes, store: SessionStore, more?: Partial<RecoveryLimits>): Promise<Claim> {
  const claimed = await settled(engine, store.claim('s', limits(more)));
  if (claimed === undefined) throw new Error('the engine is out of order');
  return claimed;
}

/** Claims the session `s`, which nobody may have. */
export async function own(
  engine: Runtimes,
  store: SessionStore,
  more?: Partial<RecoveryLimits>,
  historyLimit = 100,
): Promise<{ ledger: SessionLedger; recovered: Recovered & Past }> {
  const claimed = await claim(engine, store, { historyLimit, ...more });
  if (claimed.held) throw new Error(`held by ${claimed.by}`);
  const past = claimed.past(historyLimit);
  if (past === undefined) throw new Error('the engine cannot be read');
  return { ledger: claimed.ledger, recovered: { ...claimed.recovered, ...past } };
}
