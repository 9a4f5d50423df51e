import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Glyph } from './glyph.tsx';
import type { Sign } from './glyphs.ts';
import { isStale } from './live.ts';

/** Consequence of an order. */
export type Consequence = readonly [...Sign, string];

interface AskProps {
  readonly verb: string;
  /** The button that does it. @defaultValue the first word of `verb` */
  readonly doText?: string | undefined;
  /** The button that leaves all as it is. @defaultValue `Keep as it is` */
  readonly keepText?: string | undefined;
  /** Target that it is done to. */
  readonly what: string;
  /** Said before that it is recorded. */
  readonly note: string;
  readonly after: readonly Consequence[];
  /** Word to type before it can be done. @defaultValue nothing */
  readonly word?: string | undefined;
  /** Value that is asked for, with what stands there at first, and what it may be. @defaultValue none is */
  readonly field?: { label: string; first: string; options?: readonly string[] | undefined } | undefined;
  /** Does it. Never rejects. @param value - of the field, where there is one. */
  readonly act: (why: string, value: string) => Promise<void>;
  readonly close: () => void;
}

/** Asks before something is done: says what follows from it, takes the reason, and wants a word typed where work is cut off. */
export function Ask({
  verb,
  doText = verb.split(' ')[0],
  keepText = 'Keep as it is',
  what,
  note,
  after,
  word,
  field,
  act,
  close,
}: AskProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [why, setWhy] = useState('');
  const [value, setValue] = useState(field?.first ?? '');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>('[data-first]')?.focus();
  }, []);
  const isConfirmed =
    (word === undefined || typed === word) && (field === undefined || value.trim() !== '') && !busy && !isStale.value;
  const confirm = async (): Promise<void> => {
    setBusy(true);
    await act(why, value.trim());
    close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={close}>
      <form method="dialog" onSubmit={(event) => event.preventDefault()}>
        <h2 id="dialog-title">
          {verb} <bdi>{what}</bdi>?
        </h2>
        <p>{note}It is recorded with your name.</p>
        <ul class="after">
          {after.map(([glyph, tone, text]) => (
            <li key={text}>
              <Glyph name={glyph} tone={tone} />
              {text}
            </li>
          ))}
        </ul>
        {field !== undefined && (
          <label>
            {field.label}
            <input
              list="options"
              value={value}
              onInput={(event) => setValue(event.currentTarget.value)}
              spellcheck={false}
            />
            <datalist id="options">
              {field.options?.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          </label>
        )}
        <label>
          Reason, kept in the record
          <input
            value={why}
            maxLength={300}
            placeholder="optional"
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
        {word !== undefined && (
          <label>
            <span>
              Type <b>{word}</b> to confirm
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
          <button type="button" class="btn" data-first={word === undefined ? true : undefined} onClick={close}>
            {keepText}
          </button>
          <button
            type="button"
            class="btn del"
            aria-disabled={!isConfirmed}
            onClick={() => isConfirmed && void confirm()}
          >
            {doText}
          </button>
        </footer>
      </form>
    </dialog>
  );
}

interface ActProps {
  /** True while it may not be pressed for a reason of its own. @defaultValue false */
  readonly isBusy?: boolean;
  readonly act: () => void;
  readonly children: ComponentChildren;
}

/** A button that does nothing while the page is not connected. */
export function Act({ isBusy = false, act, children }: ActProps) {
  const isOff = isBusy || isStale.value;
  return (
    <button
      type="button"
      class="btn"
      aria-disabled={isOff}
      title={isStale.value ? 'Not connected' : undefined}
      onClick={() => {
        if (!isOff) act();
      }}
    >
      {children}
    </button>
  );
}
