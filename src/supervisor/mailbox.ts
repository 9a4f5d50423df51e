import type { EventObject } from 'xstate';
import type { FactOf } from '../policy/facts/facts.ts';
import { EventQueue } from './eventQueue.ts';
import { type Child, type Supervision, tell } from './supervision.ts';

type DeadLetterReason = FactOf<'message.dead_letter'>['reason'];

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

/** @returns false, for the sender. */
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
