import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Alerts } from './alerts.tsx';
import { OrderDialog, told } from './dialog.tsx';
import { Events } from './events.tsx';
import { Glyph } from './glyph.tsx';
import { IntegrationPage, Integrations } from './integrations.tsx';
import { head, held, link, lostAt, now, pause, paused, problem, right, tables } from './live.ts';
import { Machines } from './machines.tsx';
import { Overview } from './overview.tsx';
import { Processes } from './processes.tsx';
import { href, narrow, route, span, views, type ViewName } from './route.ts';
import { SessionPage } from './sessionPage.tsx';
import { Sessions } from './sessions.tsx';
import { nextTheme } from './theme.ts';
import { clockTime, counted } from './words.ts';

const names: Readonly<Record<ViewName, string>> = {
  overview: 'Overview',
  sessions: 'Sessions',
  integrations: 'Integrations',
  processes: 'Processes',
  events: 'Events',
  alerts: 'Alerts',
  machines: 'Machines',
};

/** What is typed into the field at the top. */
const find = signal('');

export function Shell() {
  const { view, subject } = route.value;
  // At once: later it would take the focus away from where the keyboard has gone since.
  useLayoutEffect(() => {
    document.title = `${subject ?? names[view]} – unwedge`;
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [view, subject]);
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to content
      </a>
      <Top />
      <Nav />
      <main id="main" tabIndex={-1}>
        <Bars />
        {head.value === undefined ? <Loading /> : <View key={`${view} ${subject ?? ''}`} />}
      </main>
      <OrderDialog />
      <Announcement />
    </>
  );
}

function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function View() {
  const { view, subject } = route.value;
  switch (view) {
    case 'overview':
      return <Overview />;
    case 'sessions':
      return subject === undefined ? <Sessions /> : <SessionPage id={subject} />;
    case 'integrations':
      return subject === undefined ? <Integrations /> : <IntegrationPage name={subject} />;
    case 'processes':
      return <Processes />;
    case 'events':
      return <Events />;
    case 'alerts':
      return <Alerts />;
    case 'machines':
      return <Machines name={subject} />;
  }
}

function Top() {
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
        {['15m', '1h', '24h', '7d'].map((each) => (
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
      <button type="button" class="btn ghost th" aria-label="Dark or light" onClick={nextTheme}>
        <Glyph name="theme" />
      </button>
    </header>
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

function Live() {
  const text = paused.value
    ? held.value === 0
      ? 'Paused'
      : `Paused, ${held.value} new`
    : { connecting: 'Connecting', live: 'Live', lost: 'Lost', denied: 'No access' }[link.value];
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
      <span>{text}</span>
    </button>
  );
}

function Nav() {
  const person = tables.waits.all.value.filter(({ needsPerson }) => needsPerson).length;
  const counts: Readonly<Partial<Record<ViewName, number>>> = {
    overview: person,
    sessions: new Set(tables.waits.all.value.filter(({ of }) => of === 'session').map(({ name }) => name)).size,
    integrations: tables.integrations.all.value.filter(({ circuit }) => circuit !== 'closed').length,
    alerts: tables.alerts.all.value.filter(({ state }) => state !== 'cleared').length,
  };
  const running = tables.runtimes.all.value.length;
  return (
    <nav aria-label="Views">
      <ul>
        {views.map((view) => {
          const number = counts[view] ?? 0;
          return (
            <li key={view}>
              <a href={href(view)} aria-current={route.value.view === view ? 'page' : undefined} title={names[view]}>
                <Glyph name={view} />
                <span>{names[view]}</span>
                {number > 0 && <span class={`n ${view === 'overview' ? 'bad' : ''}`}>{number}</span>}
              </a>
            </li>
          );
        })}
      </ul>
      <p class="me faint">
        {right.value === 'all' ? 'may act' : 'may look only'}
        <br />
        {counted(running, 'gateway')} live
      </p>
    </nav>
  );
}

/** What is wrong with what is shown. */
function Bars() {
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

function Loading() {
  if (link.value === 'denied') return <h1 tabIndex={-1}>No access</h1>;
  return (
    <div aria-busy="true">
      <h1 tabIndex={-1}>Loading</h1>
      <section class="box wait-box" />
      <section class="box wait-box" />
    </div>
  );
}

/** What is said aloud: how many things need a person, and what became of an order. */
function Announcement() {
  const person = tables.waits.all.value.filter(({ needsPerson }) => needsPerson).length;
  useEffect(() => {
    if (told.value === '') return;
    const timer = setTimeout(() => {
      told.value = '';
    }, 8000);
    return () => clearTimeout(timer);
  }, [told.value]);
  return (
    <>
      <p class="vh" role="status">
        {counted(person, 'thing needs', 'things need')} a person
      </p>
      <div class="toast" role="status">
        {told.value !== '' && <div>{told}</div>}
      </div>
    </>
  );
}
