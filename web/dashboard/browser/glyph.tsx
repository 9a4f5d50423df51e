import type { ComponentChildren } from 'preact';
import { type GlyphName, paths, type Sign, type Tone } from './glyphs.ts';

export function Glyph({ name, tone }: { readonly name: GlyphName; readonly tone?: Tone }) {
  return (
    <svg class={`g ${tone ?? ''}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** Words with a glyph, both in its tone. */
export function Signed({
  sign: [glyph, tone],
  children,
}: {
  readonly sign: Sign;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={`st ${tone}`}>
      <Glyph name={glyph} />
      {children}
    </span>
  );
}

/** A state as glyph and word, where there is one. What is normal has no colour. */
export function State({ of }: { readonly of: string }) {
  return of === '' ? null : (
    <Signed sign={signs[of] ?? ['run', 'dim']}>
      <bdi>{of}</bdi>
    </Signed>
  );
}

const signs: Readonly<Record<string, Sign>> = {
  idle: ['idle', 'dim'],
  asleep: ['idle', 'dim'],
  closed: ['ok', 'dim'],
  running: ['ok', 'dim'],
  calling: ['run', 'dim'],
  backoff: ['clock', 'warn'],
  open: ['open', 'bad'],
  isolated: ['held', 'bad'],
  'half-open': ['half', 'warn'],
  crashed: ['cross', 'bad'],
  quarantined: ['cross', 'bad'],
  restarting: ['clock', 'warn'],
  stopped: ['idle', 'faint'],
  taking: ['run', 'dim'],
  processing: ['run', 'acc'],
  recovering: ['ask', 'wait'],
  spinning: ['theme', 'warn'],
  'not live': ['idle', 'faint'],
  'not known': ['ask', 'wait'],
  frozen: ['held', 'bad'],
  unwatched: ['warn', 'warn'],
  cleared: ['ok', 'dim'],
  alert: ['warn', 'bad'],
};
