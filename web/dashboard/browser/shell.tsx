import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Alerts } from './alerts.tsx';
import { Bars } from './bars.tsx';
import { Head } from './box.tsx';
import { BulkDialog, Bulks } from './bulkBar.tsx';
import { AnswerDialog } from './answer.tsx';
import { OrderDialog, told } from './dialog.tsx';
import { Events } from './events.tsx';
import { Glyph } from './glyph.tsx';
import { Help } from './help.tsx';
import { IntegrationPage } from './integrationPage.tsx';
import { Integrations } from './integrations.tsx';
import { Letters } from './letters.tsx';
import { head, link, right, tables } from './live.ts';
import { Machines } from './machines.tsx';
import { Overview } from './overview.tsx';
import { Processes } from './processes.tsx';
import { href, route, type ViewName, viewNames, views } from './route.ts';
import { SessionPage } from './sessionPage.tsx';
import { Sessions } from './sessions.tsx';
import { Top } from './top.tsx';
import { counted } from './words.ts';

export function Shell() {
  const { view, subject } = route.value;
  // At once: later it would take the focus away from where the keyboard has gone since.
  useLayoutEffect(() => {
    document.title = `${subject ?? viewNames[view]} – unwedge`;
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
        <Bulks />
        {head.value === undefined ? <Loading /> : <View key={`${view} ${subject ?? ''}`} />}
      </main>
      <OrderDialog />
      <AnswerDialog />
      <BulkDialog />
      <Help />
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
    case 'letters':
      return <DeadLetters />;
    case 'machines':
      return <Machines name={subject} />;
  }
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

/** Says aloud how many things need a person, and what became of an order. */
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

/** Every message that was accepted and that nobody will process by itself. */
function DeadLetters() {
  return (
    <>
      <Head title="Dead letters">
        Messages that were accepted and that nobody processes unless a person sends them again
      </Head>
      <Letters />
    </>
  );
}

/** The views, and how much in each wants to be looked at. */
function Nav() {
  const person = tables.waits.all.value.filter(({ needsPerson }) => needsPerson).length;
  const counts: Readonly<Partial<Record<ViewName, number>>> = {
    overview: person,
    sessions: new Set(tables.waits.all.value.filter(({ of }) => of === 'session').map(({ name }) => name)).size,
    integrations: tables.integrations.all.value.filter(({ circuit }) => circuit !== 'closed').length,
    letters: head.value?.letters ?? 0,
    alerts: tables.alerts.all.value.filter(({ state }) => state !== 'cleared').length,
  };
  const frozen = tables.runtimes.all.value.filter(({ isFrozen }) => isFrozen === true).length;
  const running = tables.runtimes.all.value.length - frozen;
  return (
    <nav aria-label="Views">
      <ul>
        {views.map((view) => {
          const number = counts[view] ?? 0;
          return (
            <li key={view}>
              <a
                href={href(view)}
                aria-current={route.value.view === view ? 'page' : undefined}
                title={viewNames[view]}
              >
                <Glyph name={view} />
                <span>{viewNames[view]}</span>
                {number > 0 && (
                  <span class={`n ${view === 'overview' || view === 'letters' ? 'bad' : ''}`}>{number}</span>
                )}
              </a>
            </li>
          );
        })}
      </ul>
      <p class="me faint">
        {right.value === 'all' ? 'may act' : 'may look only'}
        <br />
        {counted(running, 'gateway')} live
        {frozen > 0 && <span class="bad">, {frozen} frozen</span>}
      </p>
    </nav>
  );
}
