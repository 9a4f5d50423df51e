import type { EventObject } from 'xstate';

/** Events in the order they came. Taking one costs the same however many wait, unlike an array's `shift`. */
export class EventQueue {
  #events: (EventObject | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#events.length - this.#first;
  }

  push(event: EventObject): void {
    this.#events.push(event);
  }

  /** Takes the newest. */
  pop(): EventObject | undefined {
    return this.length === 0 ? undefined : this.#events.pop();
  }

  /** Takes the oldest. */
  shift(): EventObject | undefined {
    if (this.length === 0) return undefined;
    const event = this.#events[this.#first];
    this.#events[this.#first] = undefined;
    this.#first += 1;
    if (this.#first * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    return event;
  }
}
