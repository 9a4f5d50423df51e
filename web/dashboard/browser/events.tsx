import { useMemo } from 'preact/hooks';
import { Empty, Head } from './box.tsx';
import { clearFilters, EventFilters, eventQuery } from './eventFilters.tsx';
import { mostShown, useEvents } from './eventList.ts';
import { EventRow } from './eventRow.tsx';
import { route } from './route.ts';
import { count, counted } from './words.ts';

/** Shows all that was recorded, the newest first; new events wait behind a button once the reader has scrolled. */
export function Events() {
  // Times of the address that are told from now on stay as they were when it was opened.
  const { query, isNarrow } = useMemo(eventQuery, [String(route.value.query)]);
  const { events, older, state, waiting, show, more, error } = useEvents(query);
  const isFull = events.length >= mostShown;
  const all = older === undefined && !isFull;
  return (
    <>
      <Head title="Events" role="status">
        {state === 'loading'
          ? 'Searching …'
          : `${counted(events.length, 'event')}${all ? '' : ' so far'}${isNarrow ? ' that match' : ''}, the newest first.`}
      </Head>
      <section class="box" aria-label="Events">
        <div class="filters" role="search" aria-label="Filter events">
          <EventFilters />
          {isNarrow && (
            <button type="button" class="btn ghost" onClick={clearFilters}>
              Clear
            </button>
          )}
          {waiting > 0 && (
            <button type="button" class="btn pri end" onClick={show}>
              {count(waiting)} new
            </button>
          )}
        </div>
        {error !== '' && (
          <p class="in bad" role="alert">
            {error}
          </p>
        )}
        {state === 'shown' && events.length === 0 && all && error === '' ? (
          <Empty title={isNarrow ? 'No event matches' : 'No event is recorded yet'}>
            {isNarrow
              ? 'All that is kept was looked at. Clear the filters to see all of it.'
              : 'Failures, crashes, restarts and sessions of every gateway on the database are listed here.'}
          </Empty>
        ) : (
          <ol class="events">
            {events.map((event) => (
              <EventRow key={event.id} event={event} />
            ))}
          </ol>
        )}
        {older !== undefined && !isFull && (
          <p class="in">
            <button type="button" class="btn" aria-disabled={state === 'searching'} onClick={more}>
              {state === 'searching' ? 'Searching older events …' : 'Older events'}
            </button>
          </p>
        )}
        {isFull && <p class="in dim">More than {count(mostShown)} are not shown at a time: narrow the search.</p>}
      </section>
    </>
  );
}
