import { Glyph } from './glyph.tsx';
import { head, right } from './live.ts';
import { href, route, viewNames, views, type ViewName } from './route.ts';
import { counted } from './words.ts';
import { tables } from './tables.ts';

/** The views, and how much in each wants to be looked at. */
export function Nav() {
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
