import { Glyph } from './glyph.tsx';
import { head, link, lostAt, now, problem, right } from './live.ts';
import { clockTime } from './words.ts';
import { tables } from './tables.ts';

/** Shows what is wrong with the page. */
export function Bars() {
  if (link.value === 'denied') {
    return (
      <p class="bar bad" role="alert">
        <Glyph name="lock" tone="bad" />
        <span>
          This browser has no access. Open the address that <code>unwedge dashboard</code> printed last; each is good
          for one browser.
        </span>
      </p>
    );
  }
  return (
    <>
      {link.value === 'refused' && (
        <p class="bar bad" role="alert">
          <Glyph name="warn" tone="bad" />
          <span>Refused: too many viewers, or the gateway is gone.</span>
        </p>
      )}
      {link.value === 'lost' && (
        <p class="bar bad" role="alert">
          <Glyph name="warn" tone="bad" />
          <span>
            No connection{lostAt.value === 0 ? '' : ` since ${clockTime(lostAt.value, now.value)}`}: what is shown is as
            it was then. It is tried again every 2s.
          </span>
        </p>
      )}
      {problem.value !== '' && (
        <p class="bar bad" role="alert">
          <Glyph name="warn" tone="bad" />
          <span>{problem}</span>
        </p>
      )}
      {link.value === 'live' && head.value !== undefined && right.value === 'read' && (
        <p class="bar note">
          <Glyph name="lock" />
          <span>You may look, and not act: whoever started the dashboard decides.</span>
        </p>
      )}
      {tables.runtimes.all.value
        .filter(({ problem: why }) => why !== undefined)
        .map(({ key, name, pid, problem: why }) => (
          <p key={key} class="bar note">
            <Glyph name="warn" tone="warn" />
            <span>
              <bdi>{name}</bdi> (pid {pid}) does not answer: {why}. What it does is shown as it was last recorded.
            </span>
          </p>
        ))}
    </>
  );
}
