import type { ActorSystem, ActorSystemInfo, AnyActorRef } from 'xstate';
import type { Clock, Timer } from '../policy/clock.ts';

type System = ActorSystem<ActorSystemInfo>;

/** The delays of machines that wait for a sign of life: while the event loop stands still, nobody could hear one. */
const awaitsSign = /^xstate\.after\.(?:silence|handshake)\./;

/** The delay of machines that judge once the event loop has asked for what is there: a timer may fire before it does. */
const asksLoop = /^xstate\.after\.turn\./;

/** It has asked by the second; by the third what that brought is told, where a flood is told once a turn. */
const turnsToAsk = 3;

/** A timer by turns of the event loop. */
class TurnTimer {
  #callback: (() => void) | undefined;

  constructor(clock: Clock, callback: () => void) {
    this.#callback = callback;
    let left = turnsToAsk;
    const next = (): void => {
      if (this.#callback === undefined) return;
      if (--left >= 0) clock.nextTurn(next);
      else this.#callback();
    };
    next();
  }

  clear(): void {
    this.#callback = undefined;
  }
}

/**
 * A scheduler of delayed events that finds an actor's timers by the actor. XState's own walks every timer of the system
 * whenever any actor stops: 4 ms each with 10,000 pending. Give it to the root before its start.
 *
 * @example
 * root.system.scheduler = indexedScheduler(clock);
 */
export function indexedScheduler(clock: Clock): System['scheduler'] {
  const timersOf = new Map<AnyActorRef, Map<string, Timer | TurnTimer>>();
  let lastId = 0;

  const forgetTimer = (source: AnyActorRef, timers: Map<string, Timer | TurnTimer>, id: string): void => {
    timers.delete(id);
    if (timers.size === 0 && timersOf.get(source) === timers) timersOf.delete(source);
  };
  const clear = (timer: Timer | TurnTimer): void => {
    if (timer instanceof TurnTimer) timer.clear();
    else clock.clearTimeout(timer);
  };
  const cancel = (source: AnyActorRef, id: string): void => {
    const timers = timersOf.get(source);
    const timer = timers?.get(id);
    if (timers === undefined || timer === undefined) return;
    clear(timer);
    forgetTimer(source, timers, id);
  };

  return {
    schedule(source, target, event, delay, id = `unnamed.${++lastId}`) {
      cancel(source, id);
      const timers = timersOf.get(source) ?? new Map<string, Timer | TurnTimer>();
      timersOf.set(source, timers);
      const fire = (): void => {
        forgetTimer(source, timers, id);
        target.send(event);
      };
      timers.set(
        id,
        asksLoop.test(id)
          ? new TurnTimer(clock, fire)
          : // A machine waits only in the middle of something (a release, a handshake, a kill): somebody is owed its end.
            clock.setTimeout(fire, delay, { ref: true, running: awaitsSign.test(id) }),
      );
    },
    cancel,
    cancelAll(source) {
      const timers = timersOf.get(source);
      if (timers === undefined) return;
      for (const timer of timers.values()) clear(timer);
      timersOf.delete(source);
    },
  };
}

/** Our clock in the form XState takes for a root actor. */
export function xstateClock(clock: Clock): System['_clock'] {
  return {
    setTimeout: (callback: () => void, delayMs: number) => clock.setTimeout(callback, delayMs),
    clearTimeout: (timer: Timer | undefined) => {
      clock.clearTimeout(timer);
    },
  };
}
