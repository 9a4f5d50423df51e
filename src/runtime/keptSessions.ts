import type { ProcessWorld } from '../actors/process/processIdentity.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import type { Adoption } from './adoption.ts';
import type { KeptFacts } from '../policy/facts/facts.ts';
import { createOwners } from './sessionOwners.ts';
import { lostCallFact, lostCallResult } from '../sessions/lostCall.ts';
import type { Claims } from '../sessions/persistence.ts';
import type { SupervisedSession } from '../sessions/supervisedSession.ts';
import type { OldestMail } from '../sessions/sessionMail.ts';
import type { Move, SessionStore } from '../sessions/sessionStore.ts';
import type { Store } from '../store/store.ts';

/** Interval at which a session that is not claimed is asked for again, in ms. */
const claimEveryMs = 10_000;
/** Shortest interval at which messages that come for it have it asked for, in ms. */
const askEveryMs = 1000;
/** Sessions that are claimed in one commit: it takes up to about 10 ms. */
const mostClaims = 100;

interface KeptSessionsParts {
  readonly clock: Clock;
  readonly facts: KeptFacts;
  readonly store: () => Store | undefined;
  /** The processes as of now. */
  readonly seeWorld: () => Promise<ProcessWorld>;
  /** Told when a session was taken over from a runtime that had died: its children are nobody's now. */
  readonly takenOver: () => void;
  /** Makes sessions that nobody has. */
  readonly adoption: Pick<Adoption, 'start' | 'look' | 'stop'>;
}

/** A run that is entered in the store, and the processes as it saw them at the wall time `seenAt`. */
export interface LiveRun {
  readonly id: string;
  readonly world: ProcessWorld;
  readonly seenAt: number;
}

/** Joins sessions to the store: claims them, takes up what earlier runs left, and takes over from a runtime that has died. */
export type KeptSessions = ReturnType<typeof createKeptSessions>;

export function createKeptSessions({ clock, facts, store: storeOf, seeWorld, takenOver, adoption }: KeptSessionsParts) {
  const sessions = new Map<string, SupervisedSession>();
  /** Sessions that were added after the start and are being opened. */
  const later: SupervisedSession[] = [];
  const owners = createOwners(clock);
  /** Lost calls that the start has answered, by session, until that is claimed. */
  const answeredCalls = new Map<string, number>();
  let store: SessionStore | undefined;
  let started = false;
  let stopped = false;
  let timer: Timer | undefined;
  let isClaiming = false;
  let wasWoken = false;
  let leaveStore: (() => void) | undefined;
  const asked = new WeakMap<SupervisedSession, { readonly at: number; readonly answer: Promise<void> }>();
  let seen: { readonly at: number; readonly end: Promise<void> } | undefined;

  const claims: Claims = { again: () => planClaims(), ask, answered: (session) => answeredCalls.get(session) ?? 0 };

  async function open(session: SupervisedSession): Promise<void> {
    if (store === undefined) session.goesUnkept();
    else {
      await session.open(store, claims);
      if (!session.heldElsewhere) answeredCalls.delete(session.id);
    }
  }

  /** Claims those together that sleep. */
  async function openSome(some: readonly SupervisedSession[]): Promise<void> {
    const asleep = some.flatMap((session) => {
      const limits = store === undefined || answeredCalls.has(session.id) ? undefined : session.claiming();
      return limits === undefined ? [] : [{ session, id: session.id, limits }];
    });
    const others = new Set(asleep.map(({ session }) => session));
    const opening = some.filter((session) => !others.has(session)).map(open);
    if (store !== undefined && asleep.length > 0) {
      const opened = { store, claims };
      const each = () => Promise.all(asleep.map(({ id, limits }) => opened.store.claim(id, limits)));
      const made = await (store.claimAll?.(asleep) ?? each());
      opening.push(...asleep.map(({ session }, index) => session.claimed(opened, made[index])));
    }
    await Promise.all(opening);
  }

  /** A slice at a time: each waits for the commit that has claimed it, and the loop goes on between. */
  async function openAll(toOpen: readonly SupervisedSession[]): Promise<void> {
    for (let first = 0; first < toOpen.length && !stopped; first += mostClaims) {
      await openSome(toOpen.slice(first, first + mostClaims));
    }
  }

  async function openLater(): Promise<void> {
    for (let count = later.length; count > 0; count = later.length) {
      await openAll(later.slice(0, count));
      later.splice(0, count);
    }
    planClaims();
  }

  /** While a session is held elsewhere its owner may die at any time; while the store is out of order it may recover. */
  function planClaims(delayMs = store?.claimEveryMs ?? claimEveryMs): void {
    if (stopped || timer !== undefined || isClaiming || !hasUnclaimed()) return;
    timer = clock.setTimeout(() => void claimAgain(), delayMs);
  }

  /** Its owner may have ended just now: the sender of a message need not wait for the next look. Where others tell of that it is known. */
  function ask(id: string): Promise<void> {
    const session = sessions.get(id);
    if (session === undefined || stopped || store?.takeable !== undefined) return Promise.resolve();
    const now = clock.now();
    const last = asked.get(session);
    if (last !== undefined && now - last.at < askEveryMs) return last.answer;
    const answer = see().then(() => take([session], openAll));
    asked.set(session, { at: now, answer });
    return answer;
  }

  /** A session may be free now. */
  function wake(): void {
    wasWoken = true;
    void adoption.look();
    if (!isClaiming && hasUnclaimed()) void claimAgain();
  }

  /** Others have fewer: what is idle goes to them. */
  function give(moves: readonly Move[]): void {
    for (const { session, to } of moves) sessions.get(session)?.giveBack(to);
  }

  async function claimAgain(): Promise<void> {
    clock.clearTimeout(timer);
    timer = undefined;
    isClaiming = true;
    wasWoken = false;
    const nextMs = await claim();
    isClaiming = false;
    planClaims(wasWoken ? 0 : nextMs);
  }

  function hasUnclaimed(): boolean {
    for (const session of sessions.values()) if (session.unclaimed) return true;
    return false;
  }

  /** @returns when to try again, in ms; undefined for as usual. Never rejects. */
  async function claim(): Promise<number | undefined> {
    const unclaimed = [...sessions.values()].filter((session) => session.unclaimed);
    if (store?.takeable !== undefined) {
      const found = await store.takeable(unclaimed.map(({ id }) => id));
      const free = found?.free.flatMap((id) => sessions.get(id) ?? []) ?? [];
      await take(free, openAll);
      return free.some((session) => !session.unclaimed) ? 0 : found?.againInMs;
    }
    await see();
    await take(unclaimed, async () => {
      for (const session of unclaimed) if (!stopped && session.unclaimed) await openSome([session]);
    });
    return undefined;
  }

  /** Looks which owners live; at most once a second, however many sessions are asked for. */
  function see(): Promise<void> {
    const at = clock.now();
    if (seen === undefined || at - seen.at >= askEveryMs) {
      const seenAt = clock.wallNow();
      seen = { at, end: seeWorld().then((world) => owners.see(world, at, seenAt)) };
    }
    return seen.end;
  }

  async function take(
    toTake: readonly SupervisedSession[],
    openThem: (toOpen: readonly SupervisedSession[]) => Promise<void>,
  ): Promise<void> {
    const held = toTake.filter(({ heldElsewhere }) => heldElsewhere);
    await openThem(toTake);
    if (held.some(({ heldElsewhere }) => !heldElsewhere)) takenOver();
  }

  return {
    /** Answers the lost calls of dead runtimes and opens the sessions added so far. Never rejects. */
    async start(run: LiveRun): Promise<void> {
      owners.see(run.world, clock.now(), run.seenAt);
      store = storeOf()?.sessions?.({ id: run.id, isAlive: owners.isAlive });
      const leaves = [store?.onTakeable?.(wake), store?.onAsked?.(give)];
      leaveStore = () => leaves.forEach((leave) => leave?.());
      const wallNow = clock.wallNow();
      const lost = await store?.recoverCalls({
        wallNow,
        answer: (call) => lostCallResult(call, wallNow),
        fact: (call) => facts.masked(lostCallFact(call)),
      });
      for (const call of lost ?? []) {
        answeredCalls.set(call.session, (answeredCalls.get(call.session) ?? 0) + 1);
        facts.tell(facts.masked(lostCallFact(call)), true);
      }
      if (store !== undefined) await adoption.start(store);
      // Sessions added until now, each once; later ones are opened as they are added.
      started = true;
      await openAll([...sessions.values()]);
      // A runtime that died stayed on record as long as it had these.
      if (store !== undefined && ((await storeOf()?.runtimes.pids()) ?? []).length > 1) takenOver();
      planClaims();
    },
    /** Adds a session; it is opened now or, before the start, by it. */
    add(session: SupervisedSession): void {
      sessions.set(session.id, session);
      if (!started) return;
      later.push(session);
      if (later.length === 1) void openLater();
    },
    leave(id: string): void {
      sessions.delete(id);
    },
    /** The mail on the store that has waited longest though somebody could take it, of each session, as of the last look. */
    oldestMail: (): readonly OldestMail[] => (stopped ? [] : (store?.mail?.oldest ?? [])),
    stop(): void {
      stopped = true;
      adoption.stop();
      clock.clearTimeout(timer);
      leaveStore?.();
    },
  };
}
