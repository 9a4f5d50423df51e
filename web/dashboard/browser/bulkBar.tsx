import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatSeconds } from '../../../src/policy/text/face.ts';
import type { Order, OrderName } from '../../../operator/order.ts';
import type { BulkLine } from '../snapshot.ts';
import { giveMany, stopMany } from './api.ts';
import { Act, Ask, type Consequence } from './ask.tsx';
import { cutting, told, verbs } from './dialog.tsx';
import { Glyph } from './glyph.tsx';
import { right, tables } from './live.ts';
import { buttonsOfMany } from './orderButtons.ts';
import { count, counted } from './words.ts';

/** The keys of the rows of a list that are chosen. */
type Picked = Signal<ReadonlySet<string>>;

export const noPicked = (): Picked => signal<ReadonlySet<string>>(new Set());

/** Forgets what was chosen when its list is left. */
export function useForgotten(picked: Picked): void {
  useEffect(
    () => () => {
      picked.value = new Set();
    },
    [picked],
  );
}

interface PickProps {
  readonly picked: Picked;
  readonly of: string;
  readonly name: string;
}

/** A box that chooses a row; none for who may give no orders. */
export function Pick({ picked, of: key, name }: PickProps) {
  if (right.value !== 'all') return null;
  return (
    <input
      type="checkbox"
      class="pick"
      aria-label={`Choose ${name}`}
      checked={picked.value.has(key)}
      onChange={({ currentTarget: { checked } }) => {
        const next = new Set(picked.value);
        if (checked) next.add(key);
        else next.delete(key);
        picked.value = next;
      }}
    />
  );
}

/** An order, and those that it fits. */
interface BulkChoice {
  readonly order: OrderName;
  readonly text: string;
  /** Consequence that is said to follow from it. */
  readonly after: Consequence;
  /** Another one, of those that are chosen. @defaultValue none */
  readonly also?: (keys: readonly string[]) => Consequence;
  /** Keys of the rows that it fits. */
  readonly fits: readonly string[];
}

interface BulkBarProps {
  readonly picked: Picked;
  /** Groups that can be chosen at once: a name for it, and the keys. */
  readonly groups: readonly (readonly [text: string, keys: readonly string[]])[];
  readonly choices: readonly BulkChoice[];
  /** Noun for one of them, such as `integration`. */
  readonly noun: string;
  /** Returns the name and target of a key. */
  readonly about: (key: string) => Pick<Order, 'name' | 'target'>;
}

interface BulkWish extends Pick<BulkChoice, 'order'> {
  readonly after: readonly Consequence[];
  readonly of: readonly Pick<Order, 'name' | 'target'>[];
  readonly noun: string;
  readonly picked: Picked;
}

/** An order is about as many at most. */
const mostInBulk = 500;
const perSecond = 2;
const wish = signal<BulkWish | undefined>(undefined);

/** Chooses rows of a list, and gives one order about those that it fits. None for who may give no orders. */
export function BulkBar({ picked, groups, choices, noun, about }: BulkBarProps) {
  if (right.value !== 'all') return null;
  // Rows that have gone meanwhile are chosen no longer.
  const chosen = new Set(choices.flatMap(({ fits }) => fits.filter((key) => picked.value.has(key))));
  const fitting = choices
    .map((choice) => ({ ...choice, keys: choice.fits.filter((key) => chosen.has(key)).slice(0, mostInBulk) }))
    .filter(({ keys }) => keys.length > 0);
  return (
    <div class="acts in" role="group" aria-label={`Orders on many ${noun}s`}>
      {groups
        .filter(([, keys]) => keys.length > 0)
        .map(([text, keys]) => (
          <button key={text} type="button" class="btn ghost" onClick={() => (picked.value = new Set(keys))}>
            Choose {text} ({count(keys.length)})
          </button>
        ))}
      {chosen.size > 0 && (
        <>
          <button type="button" class="btn ghost" onClick={() => (picked.value = new Set())}>
            Choose none
          </button>
          <span class="dim" role="status">
            {count(chosen.size)} chosen
          </span>
        </>
      )}
      {fitting.map(({ order, text, after, also, keys }) => (
        <Act
          key={order}
          act={() => {
            const all = also === undefined ? [after] : [after, also(keys)];
            wish.value = { order, after: all, noun, picked, of: keys.map(about) };
          }}
        >
          {text} {count(keys.length)}…
        </Act>
      ))}
    </div>
  );
}

/** Asks before an order on many: with their number, which is typed where work is cut off. */
export function BulkDialog() {
  const asked = wish.value;
  if (asked === undefined) return null;
  const { order, after, of, noun, picked } = asked;
  const what = counted(of.length, noun);
  return (
    <Ask
      verb={verbs[order]}
      {...buttonsOfMany(order, verbs[order], what)}
      what={what}
      note={order === 'restart' ? 'This cannot be undone. ' : ''}
      after={[
        ...after,
        [
          'clock',
          'acc',
          `One after the other, two a second: ${formatSeconds(((of.length - 1) / perSecond) * 1000)} or longer.`,
        ],
        ['held', 'acc', 'It can be stopped on the way; what was done until then stays done.'],
      ]}
      word={cutting.has(order) ? String(of.length) : undefined}
      act={async (why) => {
        const { ok, text } = await giveMany(order, of, why);
        told.value = `${verbs[order]} ${what}: ${text}`;
        if (ok) picked.value = new Set();
      }}
      close={() => {
        wish.value = undefined;
      }}
    />
  );
}

/** The ended ones that the reader has put away. */
const away = signal<ReadonlySet<string>>(new Set());

/** Shows the progress of an order on many, with a button that stops it. */
export function Bulks() {
  const lines = tables.bulks.all.value.filter(({ key }) => !away.value.has(key));
  return (
    <>
      {lines.map((line) => (
        <Progress key={line.key} line={line} />
      ))}
    </>
  );
}

function Progress({ line }: { readonly line: BulkLine }) {
  const { key, order, total, done, failed, state, by, lastError } = line;
  const runs = state === 'running';
  const given = done + failed;
  const title = `${verbs[order]} ${count(total)}`;
  return (
    <section class="bar note" aria-label={title}>
      <Glyph name={runs ? 'run' : failed > 0 ? 'warn' : 'ok'} tone={runs ? 'acc' : failed > 0 ? 'warn' : 'ok'} />
      <span>
        <b>{title}</b>
        {by !== '' && (
          <>
            {' '}
            by <bdi>{by}</bdi>
          </>
        )}
        : {runs ? `${count(given)} given` : `${state} after ${count(given)}`}, {count(done)} done, {count(failed)} not
        done.
        {lastError !== undefined && <> The last: {lastError}</>}
      </span>
      <progress max={total} value={given} aria-label={title} />
      {runs ? (
        right.value === 'all' && <Act act={() => void stopMany(key).then(({ text }) => (told.value = text))}>Stop</Act>
      ) : (
        <button type="button" class="btn" onClick={() => (away.value = new Set([...away.value, key]))}>
          Put away
        </button>
      )}
    </section>
  );
}
