import { buildPage, type Page } from '../../server/page.ts';
import { style } from './styles.ts';
import { script } from '../browser/dashboard.tsx?script';

/** For `curl`, and for browsers that run no scripts. */
const withoutScript = `<noscript><p>This page needs JavaScript. Without it, type on the machine of the gateway, with the --db of the dashboard:</p>
<pre>unwedge status           what needs attention, circuits, alerts, sessions
unwedge status --json    the same for programs
unwedge why SESSION      what a session waits for</pre></noscript>`;

let page: Page | undefined;

/** Builds one file with all it needs; what it shows it asks for. */
export function dashboardPage(): Page {
  page ??= buildPage({ title: 'unwedge dashboard', style, body: `<div id="app"></div>${withoutScript}`, script });
  return page;
}
