import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Alerts } from './alerts.tsx';
import { Bars } from './bars.tsx';
import { BulkDialog } from './bulkBar.tsx';
import { Bulks } from './bulks.tsx';
import { OrderDialog, told } from './dialog.tsx';
import { Events } from './events.tsx';
import { Help } from './help.tsx';
import { IntegrationPage } from './integrationPage.tsx';
import { Integrations } from './integrations.tsx';
import { head, link } from './live.ts';
import { DeadLetters } from './deadLetters.tsx';
import { Machines } from './machines.tsx';
import { Nav } from './nav.tsx';
import { Overview } from './overview.tsx';
import { Processes } from './processes.tsx';
import { route, viewNames } from './route.ts';
import { SessionPage } from './sessionPage.tsx';
import { Sessions } from './sessions.tsx';
import { Top } from './top.tsx';
import { counted } from './words.ts';
import { tables } from './tables.ts';

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
