import { judge, type ProcessWorld } from './actors/processIdentity.ts';
import type { Clock, Timer } from './policy/clock.ts';
import type { Facts } from './policy/facts.ts';
import { lostCallFact, lostCallResult } from './sessions/lostCall.ts';
import type { Session } from './sessions/session.ts';
import type { SessionStore } from './sessions/sessionStore.ts';
import { renewEveryMs, type RuntimeRow } from './store/runtimes.ts';
import type { Store } from './store/store.ts';

/** How often a session that another runtime holds is asked for again, in ms. */
const claimEveryMs = 10_000;
/** A run that has not renewed its row for so long is dead to sessions, whatever its process does: its event loop does not turn. In ms. */
const leaseMs = 5 * renewEveryMs;

export interface KeptSessionsParts {
  readonly clock: Clock;
  readonly facts: Facts;
  readonly store: () => Store | undefined;
  /** The processes as of now. */
  readonly seeWorld: () => Promise<ProcessWorld>;
}

/** A run that is entered in the store, and the processes as it saw them at the wall time `seenAt`. */
export interface LiveRun {
  readonly id: string;
  readonly world: ProcessWorld;
  readonly seenAt: number;
}

/** Joins sessions to the store: claims them, takes up what earlier runs left, and takes over from a runtime that has died. */
export interface KeptSessions {
  /** Answers the lost calls of dead runtimes and opens the sessions added so far. Never rejects. */
  start(run: LiveRun): Promise<void>;
  /** Adds a session; it is opened now or, before the start, by it. */
  add(session: Session): void;
  stop(): void;
}

export function createKeptSessions({ clock, facts, store: storeOf, seeWorld }: KeptSessionsParts): KeptSessions {
  const sessions = new Set<Session>();
  let store: SessionStore | undefined;
  let started = false;
  let stopped = false;
  let timer: Timer | undefined;
  let world: ProcessWorld = { entries: [], boot: '', namespace: '' };
  /** When the world was looked at, in wall time. */
  let seenAt = 0;

  function isAlive(run: RuntimeRow): boolean {
    // It started after we looked: it cannot be in what we saw.
    if (run.startedAt >= seenAt) return true;
    if (judge(world, { pid: run.pid, start: run.processStart }) === 'dead') return false;
    return clock.wallNow() - run.renewedAt < leaseMs;
  }

  function see(seen: ProcessWorld, at: number): void {
    world = seen;
    seenAt = at;
  }

  async function open(session: Session): Promise<void> {
    if (store === undefined) session.goesUnkept();
    else await session.open(store);
  }

  /** While a session is held elsewhere its owner may die at any time. */
  function planClaims(): void {
    if (stopped || timer !== undefined || ![...sessions].some(({ heldElsewhere }) => heldElsewhere)) return;
    timer = clock.setTimeout(() => {
      timer = undefined;
      void claimHeld().then(planClaims);
    }, claimEveryMs);
  }

  async function claimHeld(): Promise<void> {
    const at = clock.wallNow();
    see(await seeWorld(), at);
    for (const session of sessions) if (!stopped && session.heldElsewhere) await open(session);
  }

  return {
    async start(run) {
      see(run.world, run.seenAt);
      store = storeOf()?.sessions({ id: run.id, isAlive });
      started = true;
      const wallNow = clock.wallNow();
      const lost = await store?.recoverCalls({ wallNow, answer: (call) => lostCallResult(call, wallNow) });
      for (const call of lost ?? []) facts.tell(lostCallFact(call));
      await Promise.all([...sessions].map(open));
      planClaims();
    },
    add(session) {
      sessions.add(session);
      if (started) void open(session).then(planClaims);
    },
    stop() {
      stopped = true;
      clock.clearTimeout(timer);
    },
  };
}
