import { inspectorScript } from './inspectorScript.ts';
import { inspectorStyle } from './inspectorStyle.ts';
import { buildPage, type Page } from './page.ts';

const body = `
<header>
  <h1>unwedge <span>inspect</span></h1>
  <p id="runtime"></p>
  <p id="link" role="status" data-link="connecting"><i></i><span>connecting</span></p>
  <button id="pause" type="button" aria-pressed="false" title="Keep what is shown (P)">Pause</button>
</header>
<main>
  <nav aria-label="Actors">
    <h2>Actors <span id="count"></span></h2>
    <ul id="tree"></ul>
  </nav>
  <section id="stage" aria-label="Statechart">
    <div id="heading">
      <h2 id="actor"></h2>
      <p id="state" aria-live="polite"></p>
      <p id="since"></p>
    </div>
    <div id="chart"></div>
  </section>
  <section id="log" aria-label="Events">
    <div id="tools">
      <h2>Events</h2>
      <input id="filter" type="search" placeholder="Filter by actor, event or state" aria-label="Filter events by actor, event or state" spellcheck="false">
      <label><input id="only" type="checkbox"> this actor</label>
    </div>
    <ol id="events"></ol>
    <p id="nothing">Nothing has happened since this page is open.</p>
  </section>
  <section id="facts" aria-label="The actor's last transition and context">
    <h3>Last transition</h3>
    <p id="last"></p>
    <h3>Context</h3>
    <dl id="context"></dl>
  </section>
</main>
`;

let page: Page | undefined;

/** Charts with their live state, events and actors; it needs nothing from anywhere else. */
export function inspectorPage(): Page {
  page ??= buildPage({ title: 'unwedge inspect', style: inspectorStyle, body, script: inspectorScript });
  return page;
}
