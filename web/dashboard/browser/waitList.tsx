import type { Wait } from '../snapshot.ts';
import { AnswerButtons } from './answer.tsx';
import { OrderButton } from './dialog.tsx';
import { ended, type EndedWait, hold, staysShown } from './endedWaits.ts';
import { Glyph } from './glyph.tsx';
import type { Sign } from './glyphs.ts';
import { now, right, tables } from './live.ts';
import { href } from './route.ts';
import { useSteady } from './steady.ts';
import { At, Countdown, Since } from './times.tsx';

const signs: Readonly<Record<Wait['sign'], Sign>> = {
  asks: ['ask', 'wait'],
  quarantined: ['cross', 'bad'],
  alert: ['warn', 'bad'],
  open: ['open', 'bad'],
  isolated: ['held', 'bad'],
  crashed: ['cross', 'bad'],
  backoff: ['clock', 'warn'],
  calling: ['clock', 'warn'],
  frozen: ['held', 'bad'],
  recovering: ['ask', 'wait'],
  budget: ['held', 'wait'],
  spinning: ['theme', 'warn'],
  dead: ['cross', 'bad'],
  letters: ['warn', 'bad'],
};

interface WaitListProps {
  readonly needsPerson: boolean;
  /** Said where nothing waits. */
  readonly none: string;
}

/** The waits of one kind, and those that have just ended. */
export function waitsShown(needsPerson: boolean): {
  readonly waiting: readonly Wait[];
  readonly over: readonly Wait[];
} {
  const isOfKind = (each: Wait): boolean => each.needsPerson === needsPerson;
  const over = [...ended.value.values()].filter(
    (each) => tables.waits.row(each.wait.key) === undefined && staysShown(each, now.value),
  );
  return { waiting: tables.waits.all.value.filter(isOfKind), over: over.map(({ wait }) => wait).filter(isOfKind) };
}

/** Waits of one kind, soonest first; those that have just ended stay where they were. */
export function WaitList({ needsPerson, none }: WaitListProps) {
  const { waiting, over } = waitsShown(needsPerson);
  const sorted = [...waiting, ...over].sort(
    (one, other) =>
      Number(other.question !== undefined) - Number(one.question !== undefined) ||
      (one.endsAt ?? Infinity) - (other.endsAt ?? Infinity) ||
      (one.key < other.key ? -1 : 1),
  );
  const { keys, on } = useSteady(sorted.map(({ key }) => key));
  if (keys.length === 0) return <p class="in dim">{none}</p>;
  return (
    <ul {...on}>
      {keys.map((key) => (
        <WaitRow key={key} of={key} />
      ))}
    </ul>
  );
}

function WaitRow({ of: key }: { readonly of: string }) {
  const live = tables.waits.row(key);
  const over = live === undefined ? ended.value.get(key) : undefined;
  const wait = live ?? over?.wait;
  if (wait === undefined) return null;
  const { sign, name, of, text, error } = wait;
  const [glyph, tone] = over === undefined ? signs[sign] : overSign;
  const target = targetOf(wait);
  return (
    <li
      class={over === undefined ? 'need' : 'need over'}
      data-row
      onPointerEnter={() => hold('pointer', key)}
      onPointerLeave={() => hold('pointer', '')}
      onFocusIn={() => hold('focus', key)}
      onFocusOut={() => hold('focus', '')}
    >
      <Glyph name={glyph} tone={tone} />
      <div class="who">
        <a class="cut" href={target}>
          <b>
            <bdi>{name}</bdi>
          </b>
        </a>
        {of !== 'letters' && <p class="faint">{of}</p>}
      </div>
      <div class="why-text">
        <p class="wrap">{text}</p>
        {error !== undefined && <p class="ev cut">{error}</p>}
      </div>
      {over === undefined ? <Rule {...wait} /> : <Over {...over} />}
      <div class="a">
        {wait.question !== undefined && over === undefined ? (
          <AnswerButtons question={wait.question} text={text} />
        ) : wait.order === undefined ||
          of === 'gateway' ||
          of === 'letters' ||
          of === 'question' ||
          over !== undefined ||
          right.value !== 'all' ? (
          <a class="btn" href={target}>
            Open
          </a>
        ) : (
          <OrderButton order={wait.order} name={name} of={of} target={wait.target} text={orderTexts[wait.order]} />
        )}
      </div>
    </li>
  );
}

/** The page that shows more of it. */
function targetOf({ of, name }: Wait): string {
  switch (of) {
    case 'gateway':
      return href('processes');
    case 'letters':
      return href('letters');
    case 'question':
      return href('overview');
    case 'session':
      return href('sessions', name);
    case 'integration':
      return href('integrations', name);
  }
}

const orderTexts = { restart: 'Restart…', reset: 'Reset…', budget: 'Raise…' } as const;

const overSign = ['ok', 'dim'] as const;

function Over({ how, endedAt }: EndedWait) {
  return (
    <div class="rule">
      <span>{how}</span>
      <span class="faint">
        <At at={endedAt} />
      </span>
    </div>
  );
}

function Rule({ rule, endsAt, since }: Wait) {
  return (
    <div class="rule">
      <span class="dim">
        {rule === undefined ? 'Nothing ends it by itself' : endsAt === undefined ? rule : `${rule} in`}
      </span>
      {endsAt !== undefined && <Countdown at={endsAt} />}
      <span class="faint">
        {endsAt !== undefined ? (
          <At at={endsAt} />
        ) : (
          since !== undefined && (
            <>
              for <Since at={since} />
            </>
          )
        )}
      </span>
    </div>
  );
}
