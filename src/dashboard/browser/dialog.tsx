import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { OrderName } from '../snapshot.ts';
import { give } from './api.ts';
import { Glyph } from './glyph.tsx';
import type { GlyphName, Tone } from './glyphs.ts';
import { isStale, right, tables } from './live.ts';
import { counted } from './words.ts';

interface Wish {
  readonly order: OrderName;
  readonly name: string;
  readonly of: 'integration' | 'session';
}

const wish = signal<Wish | undefined>(undefined);
/** What became of the last order. */
export const told = signal('');

const verbs: Readonly<Record<OrderName, string>> = {
  restart: 'Restart',
  isolate: 'Isolate',
  reset: 'Reset circuit of',
};

/** A button that asks before it orders. Without the right it keeps its place, with a lock. */
export function OrderButton({ order, name, of, text }: Wish & { readonly text: string }) {
  const locked = right.value !== 'all';
  const off = locked || isStale.value;
  const why = locked ? 'You may look, and not act' : isStale.value ? 'Not connected' : undefined;
  return (
    <button
      type="button"
      class="btn"
      aria-disabled={off}
      title={why}
      onClick={() => {
        if (!off) wish.value = { order, name, of };
      }}
    >
      {locked && <Glyph name="lock" />}
      {text}
    </button>
  );
}

/** Says what follows from an order, counted from how things are now, and asks for the name where work is cut off. */
export function OrderDialog() {
  const asked = wish.value;
  return asked === undefined ? null : <Question key={`${asked.order} ${asked.name}`} {...asked} />;
}

function Question({ order, name, of }: Wish) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const cuts = order !== 'reset';
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>('[data-first]')?.focus();
  }, []);
  const close = (): void => {
    wish.value = undefined;
  };
  const isConfirmed = (!cuts || typed === name) && !busy && !isStale.value;
  const act = async (): Promise<void> => {
    setBusy(true);
    const { text } = await give(order, name, why);
    told.value = `${verbs[order]} ${name}: ${text}`;
    close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={close}>
      <form method="dialog" onSubmit={(event) => event.preventDefault()}>
        <h2 id="dialog-title">
          {verbs[order]} <bdi>{name}</bdi>?
        </h2>
        <p>{order === 'restart' ? 'This cannot be undone. ' : ''}It is recorded with your name.</p>
        <ul class="after">
          {consequences({ order, name, of }).map(([glyph, tone, text]) => (
            <li key={text}>
              <Glyph name={glyph} tone={tone} />
              {text}
            </li>
          ))}
        </ul>
        <label>
          Reason, kept in the record
          <input
            value={why}
            maxLength={300}
            placeholder="optional"
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
        {cuts && (
          <label>
            <span>
              Type <b>{name}</b> to confirm
            </span>
            <input
              data-first
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
              spellcheck={false}
            />
          </label>
        )}
        <footer>
          <button type="button" class="btn" data-first={cuts ? undefined : true} onClick={close}>
            Keep as it is
          </button>
          <button type="button" class="btn del" aria-disabled={!isConfirmed} onClick={() => isConfirmed && void act()}>
            {verbs[order].split(' ')[0]}
          </button>
        </footer>
      </form>
    </dialog>
  );
}

type Consequence = readonly [GlyphName, Tone, string];

function consequences({ order, name, of }: Wish): readonly Consequence[] {
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
    case 'restart':
      return session === undefined
        ? [
            ...where,
            [
              'cross',
              'bad',
              inFlight === 0
                ? 'No call is in flight.'
                : `${counted(inFlight, 'call is', 'calls are')} cut off; what may be sent again is.`,
            ],
            ['clock', 'warn', goesOn],
            ['ok', 'ok', 'The circuit closes.'],
          ]
        : [
            [
              'cross',
              'bad',
              session.state === 'idle' ? 'No turn is under way.' : 'Its turn is cut off, with its calls.',
            ],
            ['ok', 'ok', `${counted(session.waiting, 'message')} in the mailbox stay and follow in order.`],
          ];
  }
}
