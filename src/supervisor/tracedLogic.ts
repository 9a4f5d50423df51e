import type { AnyActorLogic, AnyActorScope, EventObject, Snapshot } from 'xstate';

/** Sink for the type of the last event. */
export interface Traced {
  lastEvent: string | undefined;
}

/**
 * Actor logic that notes the type of each event it is given, from any sender, before it acts on it. Costs an assignment
 * per event and 40 bytes per actor; an inspector would cost as much again as the event itself.
 */
export class TracedLogic implements AnyActorLogic {
  readonly #logic: AnyActorLogic;
  readonly #traced: Traced;

  constructor(logic: AnyActorLogic, traced: Traced) {
    this.#logic = logic;
    this.#traced = traced;
  }

  /** Definition that inspectors draw the machine from. */
  get config(): unknown {
    return this.#logic.config;
  }

  transition(snapshot: unknown, event: EventObject, scope: AnyActorScope): unknown {
    // A machine that has failed is told to clean up: that is not what made it fail.
    if (event.type !== 'xstate.stop') this.#traced.lastEvent = event.type;
    return this.#logic.transition(snapshot, event, scope);
  }

  getInitialSnapshot(scope: AnyActorScope, input: unknown): unknown {
    return this.#logic.getInitialSnapshot(scope, input);
  }

  getPersistedSnapshot(snapshot: unknown, options?: unknown): Snapshot<unknown> {
    return this.#logic.getPersistedSnapshot(snapshot, options);
  }

  start(snapshot: unknown, scope: AnyActorScope): void {
    this.#logic.start?.(snapshot, scope);
  }
}
