import { signal } from '@preact/signals';
import { spans } from '../snapshot.ts';
import { Glyph } from './glyph.tsx';
import { isHelpShown } from './help.tsx';
import { head, held, link, pause, paused, tables } from './live.ts';
import { href, narrow, span } from './route.ts';
import { nextTheme } from './theme.ts';

/** Text typed into the field at the top. */
const find = signal('');

/** The bar at the top: find, how far figures look back, whether it is live, the theme. */
export function Top() {
  return (
    <header class="top">
      <a class="brand" href={href('overview')}>
        <Glyph name="integrations" />
        <bdi class="cut">{head.value?.title ?? 'unwedge'}</bdi>
      </a>
      <form class="find" role="search" onSubmit={(event) => go(event)}>
        <input
          type="search"
          id="find"
          aria-label="Find a session or integration"
          placeholder="Find a session or integration"
          list="found"
          value={find.value}
          onInput={(event) => {
            find.value = event.currentTarget.value;
          }}
        />
        <kbd aria-hidden="true">/</kbd>
        <Found />
      </form>
      <span class="sp" />
      <div class="seg" role="group" aria-label="Figures of the last">
        {Object.keys(spans).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={span.value === each}
            onClick={() => narrow({ span: each === '1h' ? '' : each })}
          >
            {each}
          </button>
        ))}
      </div>
      <Live />
      <button
        type="button"
        class="btn ghost th"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => {
          isHelpShown.value = true;
        }}
      >
        ?
      </button>
      <Theme />
    </header>
  );
}

export function Theme() {
  return (
    <button type="button" class="btn ghost th" aria-label="Dark or light" onClick={nextTheme}>
      <Glyph name="theme" />
    </button>
  );
}

function Found() {
  const typed = find.value.toLowerCase();
  if (typed === '') return <datalist id="found" />;
  const all = [...tables.sessions.all.value, ...tables.integrations.all.value].map(({ key }) => key);
  const found = all.filter((key) => key.toLowerCase().includes(typed)).slice(0, 20);
  return (
    <datalist id="found">
      {found.map((key) => (
        <option key={key} value={key} />
      ))}
    </datalist>
  );
}

function go(event: Event): void {
  event.preventDefault();
  const typed = find.value.trim();
  if (typed === '') return;
  const match = (rows: readonly { readonly key: string }[]): string | undefined =>
    (rows.find(({ key }) => key === typed) ?? rows.find(({ key }) => key.toLowerCase().includes(typed.toLowerCase())))
      ?.key;
  const session = match(tables.sessions.all.value);
  const integration = match(tables.integrations.all.value);
  const isExact = integration === typed;
  if (session !== undefined && !isExact) location.hash = href('sessions', session);
  else if (integration !== undefined) location.hash = href('integrations', integration);
  else location.hash = href('events', undefined, { text: typed });
  find.value = '';
  (document.activeElement as HTMLElement | null)?.blur();
}

const linkNames: Readonly<Record<typeof link.value, string>> = {
  ...{ connecting: 'Connecting', live: 'Connected', lost: 'Lost' },
  ...{ denied: 'No access', refused: 'Refused', ended: 'Ended' },
};

/** Tells whether the page is live; pauses it. */
export function Live() {
  const text = held.value === 0 ? 'Paused' : `Paused, ${held.value} new`;
  return (
    <button
      type="button"
      class="btn live"
      data-link={link.value}
      aria-pressed={paused.value}
      title="Pause updates (p)"
      onClick={() => pause(!paused.value)}
    >
      <i />
      <span>{paused.value ? text : linkNames[link.value]}</span>
    </button>
  );
}
