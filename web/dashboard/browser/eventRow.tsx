import { useEffect, useState } from 'preact/hooks';
import { breakerRuleText, readBreakerRule } from '../../../src/policy/face.ts';
import { formatDuration } from '../../../src/policy/text/face.ts';
import { messageOf } from '../../../src/policy/failures/face.ts';
import type { EventRow as StoredEvent } from '../../../src/store/face.ts';
import type { ChainLink, EventChain } from '../eventPages.ts';
import { get } from './api.ts';
import { Glyph, Signed } from './glyph.tsx';
import type { Sign } from './glyphs.ts';
import { href, type ViewName } from './route.ts';
import { Ago } from './times.tsx';

const bad = /fail|error|crash|quarantin|gave_up|lost|refused|degraded|uncaught|isolated/;
const warn = /opened|paused|watchdog|restart|dead_letter|raised|held|rate_limited|pending/;

function signOf(type: string): Sign {
  return bad.test(type) ? ['cross', 'bad'] : warn.test(type) ? ['warn', 'warn'] : ['idle', 'faint'];
}

/** Shows one event in a line; opened, what led to it, what followed, and all that was recorded with it. */
export function EventRow({ event }: { readonly event: StoredEvent }) {
  const { id, at, category, type, metadata } = event;
  const [isOpen, setOpen] = useState(false);
  const { integration, session } = metadata;
  return (
    <li data-row class="event">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <Ago at={at} />
          <Signed sign={signOf(type)}>
            <bdi>
              {category}/{type}
            </bdi>
          </Signed>
          <bdi class="cut who">{ofWhom(event)}</bdi>
          <span class="cut mono dim">{wordsOf(event)}</span>
        </summary>
        {isOpen && (
          <div class="opened">
            <Chain of={event} key={id} />
            <h3>Recorded with it</h3>
            <pre>{JSON.stringify(metadata, null, 2)}</pre>
            <p class="acts">
              {typeof integration === 'string' && <Open view="integrations" name={integration} />}
              {typeof session === 'string' && <Open view="sessions" name={session} />}
            </p>
          </div>
        )}
      </details>
    </li>
  );
}

function Open({ view, name }: { readonly view: ViewName; readonly name: string }) {
  return (
    <a class="btn" href={href(view, name)}>
      Open <bdi>{name}</bdi>
    </a>
  );
}

function ofWhom({ metadata }: StoredEvent): string {
  return [metadata['integration'], metadata['session'], metadata['child']]
    .filter((each) => typeof each === 'string')
    .join(' · ');
}

function wordsOf({ metadata }: StoredEvent): string {
  const { error, message, by, why, tool } = metadata;
  const rule = readBreakerRule(metadata['rule']);
  return [tool, error, rule && breakerRuleText(rule), message, typeof by === 'string' ? `by ${by}` : undefined, why]
    .filter((each) => typeof each === 'string')
    .join('; ');
}

/** Shows the events that the record ties to one. It is no proof: events that are only near in time say so. */
function Chain({ of: event }: { readonly of: StoredEvent }) {
  const [chain, setChain] = useState<EventChain | string | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    get<EventChain>(`/api/chain?id=${event.id}`).then(
      (found) => !isOver && setChain(found),
      (error: unknown) => !isOver && setChain(messageOf(error)),
    );
    return () => {
      isOver = true;
    };
  }, [event.id]);
  if (chain === undefined) return <p class="faint">Looking for what led to it …</p>;
  if (typeof chain === 'string') return <p class="bad">{chain}</p>;
  const { before, after } = chain;
  if (before.length + after.length === 0) return <p class="faint">The record ties no other event to it.</p>;
  return (
    <>
      <h3>
        {before.length === 0
          ? 'What followed'
          : after.length === 0
            ? 'What led to it'
            : 'What led to it, and what followed'}
      </h3>
      <ol class="cause">
        {[...before, event, ...after].map((each) => (
          <Link key={each.id} link={each} to={event} />
        ))}
      </ol>
    </>
  );
}

const ties: Readonly<Record<ChainLink['tie'], string>> = {
  cause: 'named as the cause',
  call: 'the same call',
  turn: 'the same turn',
  integration: 'the same integration, near in time',
  session: 'the same session, near in time',
};

function Link({ link, to }: { readonly link: StoredEvent | ChainLink; readonly to: StoredEvent }) {
  const [glyph, tone] = signOf(link.type);
  const apart = link.at - to.at;
  return (
    <li class={link.id === to.id ? 'here' : ''}>
      <Glyph name={glyph} tone={tone} />
      <span class="nw dim">
        {link.id === to.id ? 'this' : `${apart < 0 ? '−' : '+'}${formatDuration(Math.abs(apart))}`}
      </span>
      <span class="wrap">
        <bdi>
          {link.category}/{link.type}
        </bdi>{' '}
        <span class="mono dim">{wordsOf(link)}</span> {'tie' in link && <span class="faint">{ties[link.tie]}</span>}
      </span>
    </li>
  );
}
