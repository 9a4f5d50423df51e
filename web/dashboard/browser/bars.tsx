import type { ComponentChildren } from 'preact';
import { Glyph } from './glyph.tsx';
import type { Sign } from './glyphs.ts';
import { head, link, lostAt, now, problem, right, tables } from './live.ts';
import { clockTime } from './words.ts';

/** Shows what is wrong with the page. */
export function Bars() {
  if (link.value === 'denied') {
    return (
      <Bar sign={['lock', 'bad']}>
        This browser has no access. Open the address that <code>unwedge dashboard</code> printed last; each is good for
        one browser.
      </Bar>
    );
  }
  return (
    <>
      {link.value === 'refused' && <Bar sign={['warn', 'bad']}>Refused: too many viewers, or the gateway is gone.</Bar>}
      {link.value === 'lost' && (
        <Bar sign={['warn', 'bad']}>
          No connection{lostAt.value === 0 ? '' : ` since ${clockTime(lostAt.value, now.value)}`}: what is shown is as
          it was then. It is tried again every 2s.
        </Bar>
      )}
      {problem.value !== '' && <Bar sign={['warn', 'bad']}>{problem}</Bar>}
      {link.value === 'live' && head.value !== undefined && right.value === 'read' && (
        <Bar sign={['lock', 'dim']}>You may look, and not act: whoever started the dashboard decides.</Bar>
      )}
      {tables.runtimes.all.value
        .filter(({ problem: why }) => why !== undefined)
        .map(({ key, name, pid, problem: why }) => (
          <Bar key={key} sign={['warn', 'warn']}>
            <bdi>{name}</bdi> (pid {pid}) does not answer: {why}. What it does is shown as it was last recorded.
          </Bar>
        ))}
    </>
  );
}

interface BarProps {
  /** One that is bad is an alert; the others are notes. */
  readonly sign: Sign;
  readonly children: ComponentChildren;
}

function Bar({ sign: [glyph, tone], children }: BarProps) {
  const isBad = tone === 'bad';
  return (
    <p class={`bar ${isBad ? 'bad' : 'note'}`} role={isBad ? 'alert' : undefined}>
      <Glyph name={glyph} tone={tone} />
      <span>{children}</span>
    </p>
  );
}
