import { type GlyphName, paths, type Tone } from './glyphs.ts';

export function Glyph({ name, tone }: { readonly name: GlyphName; readonly tone?: Tone }) {
  return (
    <svg class={`g ${tone ?? ''}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** A state as glyph and word. What is normal has no colour. */
export function State({ of }: { readonly of: string }) {
  const [glyph, tone] = signOf(of);
  return (
    <span class={`st ${tone}`}>
      <Glyph name={glyph} />
      <bdi>{of}</bdi>
    </span>
  );
}

function signOf(state: string): readonly [GlyphName, Tone] {
  return signs[state] ?? ['run', 'dim'];
}

const signs: Readonly<Record<string, readonly [GlyphName, Tone]>> = {
  idle: ['idle', 'dim'],
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
  'not live': ['idle', 'faint'],
  'not known': ['ask', 'wait'],
  frozen: ['held', 'bad'],
  unwatched: ['warn', 'warn'],
  cleared: ['ok', 'dim'],
  alert: ['warn', 'bad'],
};
