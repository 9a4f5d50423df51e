import type { EventObject } from 'xstate';
import type { FactOf } from '../policy/facts.ts';
import { checkInteger, checkKeys, checkOneOf } from '../policy/options.ts';
import { EventQueue } from './eventQueue.ts';
import { type Child, type Supervision, tell } from './supervision.ts';

/**
 * What a full mailbox does with one message more: refuses it (`refuse`), or makes room by dropping the message that has
 * waited longest (`drop_oldest`) or shortest (`drop_newest`).
 */
export type Overflow = 'refuse' | 'drop_oldest' | 'drop_newest';

/**
 * What is kept of the messages that come, by `send` of the supervisor, while a child is on its way back: while it is
 * restarting, starting, being stopped for a restart, or in a quarantine that ends by time. They are delivered in order as
 * soon as it runs again, ahead of all that is sent after them; one that makes it fail is not delivered again, those behind
 * it wait for the next incarnation. What waits becomes dead letters when no start is to come.
 *
 * A live actor needs no mailbox: it processes an event before `send` returns. Only what is sent to it from within its own
 * processing waits, inside XState, where nothing bounds it and an incarnation that fails takes it along. Nor is anything
 * held, counted or told that is sent to the actor itself, past the supervisor.
 */
export interface MailboxOptions {
  /** Messages that may wait; at least 0, which keeps none, as in OTP. @defaultValue 0 */
  readonly capacity?: number | undefined;
  /** @defaultValue 'refuse' */
  readonly overflow?: Overflow | undefined;
}

/** {@link MailboxOptions} that were checked. */
export interface Mailbox {
  readonly capacity: number;
  readonly overflow: Overflow;
}

type DeadLetterReason = FactOf<'message.dead_letter'>['reason'];

const noMailbox: Mailbox = { capacity: 0, overflow: 'refuse' };

/** Fills in defaults. @throws TypeError or RangeError that names the field and its value. */
export function checkMailbox(name: string, given: MailboxOptions | undefined): Mailbox {
  if (given === undefined) return noMailbox;
  checkKeys(name, given, Object.keys(noMailbox));
  return {
    capacity: checkInteger(`${name}.capacity`, given.capacity ?? 0, 0),
    overflow: checkOneOf(`${name}.overflow`, given.overflow ?? 'refuse', ['refuse', 'drop_oldest', 'drop_newest']),
  };
}

/** Sends to a child, or holds the message for its next start. @returns false when neither was possible. */
export function sendToChild(supervision: Supervision, id: string, event: EventObject): boolean {
  const child = supervision.children.get(id);
  if (child === undefined) return deadLetter(supervision, id, undefined, event, 'no_child');
  if (child.spec.mailbox.capacity > 0 && isComingBack(child)) return hold(supervision, child, event);
  if (child.ref === undefined) return deadLetter(supervision, id, child, event, whyNotLive(child));
  child.ref.send(event);
  return true;
}

/** Delivers what is held to the incarnation that has just started, for as long as it lives. */
export function deliverHeld(child: Child): void {
  const { ref, held } = child;
  if (ref === undefined || held === undefined) return;
  while (child.state === 'running') {
    const event = held.shift();
    if (event === undefined) break;
    ref.send(event);
  }
  if (child.held === held && held.length === 0) child.held = undefined;
}

/** Makes dead letters of what is held for a child, unless there is a start to come. */
export function discardHeld(supervision: Supervision, child: Child, reason: 'stopped' | 'quarantined'): void {
  const { held } = child;
  if (held === undefined || child.plan !== undefined) return;
  child.held = undefined;
  for (let event = held.shift(); event !== undefined; event = held.shift()) {
    deadLetter(supervision, child.spec.id, child, event, reason);
  }
}

function hold(supervision: Supervision, child: Child, event: EventObject): boolean {
  const { capacity, overflow } = child.spec.mailbox;
  child.held ??= new EventQueue();
  const { held } = child;
  const { id } = child.spec;
  if (held.length >= capacity) {
    if (overflow === 'refuse') return deadLetter(supervision, id, child, event, 'mailbox_full');
    const dropped = overflow === 'drop_oldest' ? held.shift() : held.pop();
    held.push(event);
    if (dropped !== undefined) deadLetter(supervision, id, child, dropped, overflow);
    return true;
  }
  held.push(event);
  return true;
}

/** Also while it takes what was held, or a message sent meanwhile would overtake those. */
function isComingBack({ state, plan, held }: Child): boolean {
  return state === 'starting' || (plan !== undefined && state !== 'running') || held !== undefined;
}

/** @returns false, for who sends. */
function deadLetter(
  supervision: Supervision,
  to: string,
  child: Child | undefined,
  { type: message }: EventObject,
  reason: DeadLetterReason,
): false {
  supervision.deadLetters += 1;
  if (child !== undefined) child.deadLetters += 1;
  const { deadLetters } = child ?? supervision;
  tell(supervision.surroundings, { type: 'message.dead_letter', to, message, reason, deadLetters });
  return false;
}

function whyNotLive({ state }: Child): DeadLetterReason {
  return state === 'starting' || state === 'restarting' || state === 'quarantined' ? state : 'stopped';
}
