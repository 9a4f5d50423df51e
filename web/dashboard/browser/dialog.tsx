import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { OrderName } from '../../../operator/order.ts';
import { give, saveIncident } from './api.ts';
import { Act, Ask, type Consequence } from './ask.tsx';
import { right, tables } from './live.ts';
import { buttonsOf } from './orderButtons.ts';
import { counted } from './words.ts';

export interface Wish {
  readonly order: OrderName;
  readonly name: string;
  readonly of: 'integration' | 'session';
  /** Part of the session that is meant: a rule, a call or a message, by its id; of a budget the limit that is proposed. */
  readonly target?: string | undefined;
  /** The same in words, for the question. @defaultValue the name */
  readonly what?: string | undefined;
  /** Calls that a letter may make again. @defaultValue none */
  readonly again?: readonly string[] | undefined;
}

const wish = signal<Wish | undefined>(undefined);
/** Result of the last order. */
export const told = signal('');

export const verbs: Readonly<Record<OrderName, string>> = {
  restart: 'Restart',
  isolate: 'Isolate',
  reset: 'Reset circuit of',
  probe: 'Probe',
  fire: 'Fire',
  stop_retrying: 'Stop retrying',
  cancel: 'Cancel',
  budget: 'Raise the budget of',
  hold: 'Hold',
  let_go_on: 'Let go on',
  send_again: 'Send again',
  drop: 'Drop',
  forget: 'Forget',
  acknowledge: 'Acknowledge the alert of',
  snooze: 'Snooze the alert of',
};

/** Orders that cut work off or lose something: the name is typed before. */
export const cutting: ReadonlySet<OrderName> = new Set<OrderName>(['restart', 'isolate', 'cancel', 'drop']);

/** A button that asks before it orders; none for who may not press it. */
export function OrderButton({ text, ...asked }: Wish & { readonly text: string }) {
  if (right.value !== 'all') return null;
  return (
    <Act
      act={() => {
        wish.value = asked;
      }}
    >
      {text}
    </Act>
  );
}

/** Saves what happened around a session or an integration as a file, for who may look as well: nothing in it is secret, and nothing changes. */
export function IncidentButton({ of: id }: { readonly of: string }) {
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    told.value = await saveIncident(id);
    setBusy(false);
  };
  return (
    <Act isBusy={isBusy} act={() => void save()}>
      Save incident
    </Act>
  );
}

/** Says what follows from an order, counted from how things are now, and asks for the name where work is cut off. */
export function OrderDialog() {
  const asked = wish.value;
  return asked === undefined ? null : (
    <Question key={`${asked.order} ${asked.name} ${asked.target ?? ''}`} {...asked} />
  );
}

function Question(asked: Wish) {
  const { order, name, target, what = name } = asked;
  return (
    <Ask
      verb={verbs[order]}
      {...buttonsOf(order, asked.of, target !== undefined)}
      what={what}
      note={order === 'restart' ? 'This cannot be undone. ' : ''}
      after={consequences(asked)}
      word={cutting.has(order) ? name : undefined}
      field={
        order === 'budget' ? { label: 'Its limit from now on, such as tokens=3M/day', first: target ?? '' } : undefined
      }
      act={async (why, value) => {
        const { ok, text } = await give(order, name, why, order === 'budget' ? value : target);
        // The text of a success is a sentence of its own.
        told.value = ok ? text : `${verbs[order]} ${what}: ${text}`;
      }}
      close={() => {
        wish.value = undefined;
      }}
    />
  );
}

function consequences({ order, name, of, target, again = [] }: Wish): readonly Consequence[] {
  const integration = of === 'integration' ? tables.integrations.row(name) : undefined;
  const session = of === 'session' ? tables.sessions.row(name) : undefined;
  const { inFlight = 0, waiting = 0 } = integration ?? {};
  const goesOn =
    waiting === 0 ? 'No call waits.' : `${counted(waiting, 'call waits and goes', 'calls wait and go')} on after it.`;
  const places = integration?.runtimes.length ?? 0;
  const where: readonly Consequence[] = places > 1 ? [['warn', 'warn', `It is done in ${places} gateways.`]] : [];
  switch (order) {
    case 'reset':
      return [...where, ['ok', 'ok', 'The circuit closes; what was counted is forgotten.'], ['run', 'acc', goesOn]];
    case 'isolate':
      return [
        ...where,
        ['held', 'bad', 'Calls are refused at once, until somebody resets the circuit.'],
        ['run', 'acc', inFlight === 0 ? 'No call is in flight.' : `${counted(inFlight, 'call')} in flight may end.`],
        ['warn', 'warn', 'No probe tries the circuit while it is held open.'],
      ];
    case 'probe':
      return [
        ['clock', 'acc', 'One call tries it now, whatever time was set for that; the others go on being kept back.'],
        ['ok', 'ok', 'Where it is answered, calls go through again.'],
        ['warn', 'warn', 'Where it is not, they go on being kept back.'],
      ];
    case 'fire':
      return [
        ['clock', 'acc', 'This rule acts now, exactly as if its time had come.'],
        ['ok', 'ok', 'The session goes on. Where the rule has changed meanwhile, nothing is done.'],
      ];
    case 'stop_retrying':
      return [
        ['run', 'acc', 'An attempt in flight goes on, and what it ends with is the end of the call.'],
        ['cross', 'warn', 'No further attempt follows; a call that waits for its next one ends as the last one did.'],
      ];
    case 'cancel':
      return [
        ['cross', 'bad', target === undefined ? cutOff : 'The call is cut off; what it has done stays done.'],
        ['ok', 'ok', 'The agent is given an error in place of the answer. The session goes on.'],
      ];
    case 'budget':
      return [
        ['ok', 'ok', 'What waits for it goes on within a second.'],
        ['clock', 'acc', 'It holds until the turn, the session or the day that it is of ends.'],
      ];
    case 'hold':
      return [['held', 'warn', 'Further equal calls are refused, until its next message or until it is let go on.']];
    case 'let_go_on':
      return [['ok', 'ok', 'The count of its repeated calls begins anew.']];
    case 'send_again':
      return [
        ['ok', 'ok', 'It is delivered as a new message with the same content, behind those that wait.'],
        ['run', 'acc', 'It is sent once, however often this is ordered.'],
        madeAgain(again),
      ];
    case 'acknowledge':
      return [['ok', 'ok', 'Nobody else is asked to look after it, until it ends.'], failsOn];
    case 'snooze':
      return [
        ['clock', 'acc', `Nobody is asked to look after it for ${target ?? 'a time'}, or until it ends.`],
        failsOn,
      ];
    case 'drop':
      return [['cross', 'bad', 'It is never delivered, and cannot be sent again.']];
    case 'forget':
      return [['cross', 'bad', 'All that is kept of it is erased.']];
    case 'restart': {
      if (session !== undefined) {
        const isIdle = session.state === 'idle' || session.state === 'recovering';
        const stay = counted(
          session.waiting,
          'message stays in the mailbox and follows',
          'messages stay in the mailbox and follow in order',
        );
        return [
          ['cross', 'bad', isIdle ? 'No turn is under way.' : cutOff],
          ['ok', 'ok', `${stay}.`],
        ];
      }
      const cut = `${counted(inFlight, 'call is', 'calls are')} cut off; what may be sent again is.`;
      return [
        ...where,
        ['cross', 'bad', inFlight === 0 ? 'No call is in flight.' : cut],
        ['clock', 'warn', goesOn],
        ['ok', 'ok', 'The circuit closes.'],
      ];
    }
  }
}

/** Says what a letter that is sent again does twice. */
export const madeAgain = (again: readonly string[]): Consequence =>
  again.length === 0
    ? ['ok', 'ok', 'Calls that it has made once are answered as before.']
    : [
        'warn',
        'warn',
        `May be made again: ${[...new Set(again)].join(', ')}. What is called once is answered as before.`,
      ];

const cutOff = 'Its turn is cut off, with its calls.';
const failsOn: Consequence = ['warn', 'warn', 'What fails goes on failing, and is counted.'];
