import type {
  Claim,
  Kept,
  Past,
  Recovered,
  SessionLedger,
  SessionStore,
  StoredCall,
  StoredMessage,
} from '../../src/sessions/sessionStore.ts';
import type { SimulatedClock } from '../../testing/simulatedClock.ts';

const nothing: Recovered & Past = {
  waiting: [],
  deadLetters: [],
  lost: [],
  open: [],
  history: [],
  keys: [],
  lastMessage: 0,
  lastTurn: 0,
  lastSeq: 0,
};

/** A store whose commits a test holds back: `commit` lets everything written so far be kept. */
export class HeldStore implements SessionStore {
  /** What was written, in order: `post 1`, `open c-1` … */
  readonly writes: string[] = [];
  /** The calls that were opened. */
  readonly calls: StoredCall[] = [];
  held: string | undefined = undefined;
  /** Whether it cannot be read now. */
  outOfOrder = false;
  claims = 0;
  handsOver = false;
  /** When what is released can be had by others. */
  releasing: Promise<void> = Promise.resolve();
  /** What an earlier run has left. */
  recovered: Partial<Recovered & Past> = {};
  /** Whether what is read later cannot be. */
  isUnreadable = false;
  /** How often that was read. */
  reads = 0;
  #waiting: ((kept: Kept) => void)[] = [];

  commit(kept: Kept = 'durable'): void {
    for (const resolve of this.#waiting.splice(0)) resolve(kept);
  }

  /** Commits until nothing is written any more. */
  async commitAll(clock: SimulatedClock): Promise<void> {
    for (await clock.settle(); this.#waiting.length > 0; await clock.settle()) this.commit();
  }

  async #write(what: string, lost: () => void): Promise<Kept> {
    this.writes.push(what);
    const kept = await new Promise<Kept>((resolve) => {
      this.#waiting.push(resolve);
    });
    if (kept === 'fenced') lost();
    return kept;
  }

  claim(): Promise<Claim | undefined> {
    this.claims++;
    if (this.outOfOrder) return Promise.resolve(undefined);
    if (this.held !== undefined) return Promise.resolve({ held: true, by: this.held });
    const recovered = { ...nothing, ...this.recovered };
    const past = (): Past | undefined => {
      this.reads++;
      return this.isUnreadable ? undefined : recovered;
    };
    return Promise.resolve({ held: false, ledger: this.#ledger(), recovered, past });
  }

  async unowned(): Promise<readonly string[]> {
    return [];
  }

  recoverCalls(): Promise<[]> {
    return Promise.resolve([]);
  }

  #ledger(): SessionLedger {
    let lost = (): void => undefined;
    const write = (what: string) => this.#write(what, () => lost());
    return {
      watch: (listener) => {
        lost = listener;
      },
      post: ({ number }: StoredMessage) => write(`post ${number}`),
      take: (message) => write(`take ${message}`),
      putBack: (message, begun) => write(`put back ${message}${begun ? ' begun' : ''}`),
      finish: (message, end) => write(`${end} ${message}`),
      takeMail: ({ mail }) => write(`take mail ${mail}`),
      open: (call: StoredCall) => {
        this.calls.push(call);
        return write(`open ${call.call}`);
      },
      settle: (call, { status }) => write(`settle ${call} ${status}`),
      reconciling: (call) => write(`reconciling ${call}`),
      reconciled: (call, { verdict }) => write(`reconciled ${call} ${verdict}`),
      deadLetter: () => Promise.resolve(undefined),
      resend: ({ letter }) => write(`resend ${letter}`),
      bury: (message) => write(`bury ${message}`),
      madeOnce: () => Promise.resolve([]),
      forget: (turn) => void this.writes.push(`forget ${turn}`),
      release: () => {
        this.writes.push('release');
        return this.releasing;
      },
    };
  }
}
