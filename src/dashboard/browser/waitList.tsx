import type { Wait } from '../snapshot.ts';
import { OrderButton } from './dialog.tsx';
import { Glyph } from './glyph.tsx';
import type { GlyphName, Tone } from './glyphs.ts';
import { right, tables } from './live.ts';
import { href } from './route.ts';
import { useSteady } from './steady.ts';
import { At, Countdown, Since } from './times.tsx';

const signs: Readonly<Record<Wait['sign'], readonly [GlyphName, Tone]>> = {
  asks: ['ask', 'wait'],
  quarantined: ['cross', 'bad'],
  alert: ['warn', 'bad'],
  open: ['open', 'bad'],
  isolated: ['held', 'bad'],
  crashed: ['cross', 'bad'],
  backoff: ['clock', 'warn'],
  calling: ['clock', 'warn'],
};

/** Waits of one kind, soonest first. */
export function WaitList({ waits }: { readonly waits: readonly Wait[] }) {
  const sorted = [...waits].sort(
    (one, other) => (one.endsAt ?? Infinity) - (other.endsAt ?? Infinity) || (one.key < other.key ? -1 : 1),
  );
  const { keys, on } = useSteady(sorted.map(({ key }) => key));
  return (
    <ul {...on}>
      {keys.map((key) => (
        <WaitRow key={key} of={key} />
      ))}
    </ul>
  );
}

function WaitRow({ of: key }: { readonly of: string }) {
  const wait = tables.waits.row(key);
  if (wait === undefined) return null;
  const { sign, name, of, text, error } = wait;
  const [glyph, tone] = signs[sign];
  const target = href(of === 'session' ? 'sessions' : 'integrations', name);
  return (
    <li class="need" data-row>
      <Glyph name={glyph} tone={tone} />
      <div class="who">
        <a class="cut" href={target}>
          <b>
            <bdi>{name}</bdi>
          </b>
        </a>
        <p class="faint">{of}</p>
      </div>
      <div class="why-text">
        <p class="wrap">{text}</p>
        {error !== undefined && <p class="ev cut">{error}</p>}
      </div>
      <Rule {...wait} />
      <div class="a">
        {wait.order === undefined || right.value !== 'all' ? (
          <a class="btn" href={target}>
            Open
          </a>
        ) : (
          <OrderButton order={wait.order} name={name} of={of} text={orderTexts[wait.order]} />
        )}
      </div>
    </li>
  );
}

const orderTexts = { restart: 'Restart…', reset: 'Reset…' } as const;

function Rule({ rule, endsAt, since }: Wait) {
  return (
    <div class="rule">
      <span class="dim">{rule === undefined ? 'Nothing ends it' : endsAt === undefined ? rule : `${rule} in`}</span>
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
