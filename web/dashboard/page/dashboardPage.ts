import { buildPage, type Page } from '../../server/page.ts';
import { script } from '../browser/dashboard.tsx?script';
import { text as base } from '../browser/styles/base.css?text';
import { text as boxes } from '../browser/styles/boxes.css?text';
import { text as chart } from '../browser/styles/chart.css?text';
import { text as controls } from '../browser/styles/controls.css?text';
import { text as dialog } from '../browser/styles/dialog.css?text';
import { text as events } from '../browser/styles/events.css?text';
import { text as inspect } from '../browser/styles/inspect.css?text';
import { text as overview } from '../browser/styles/overview.css?text';
import { text as plots } from '../browser/styles/plots.css?text';
import { text as shell } from '../browser/styles/shell.css?text';
import { text as tables } from '../browser/styles/tables.css?text';
import { text as timeline } from '../browser/styles/timeline.css?text';
import { text as tokens } from '../browser/styles/tokens.css?text';
import { text as why } from '../browser/styles/why.css?text';

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

/**
 * The same file with one view alone: the machines of one gateway, as frames tell of them.
 * @param stately - address of the official inspector, to be shown in their place.
 */
export function inspectPage(stately?: string): Page {
  const title = 'unwedge inspect';
  if (stately === undefined) return buildPage({ title, style, body: '<div id="app" data-inspect></div>', script });
  const { origin, href } = new URL(stately);
  const shown = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const body = `<div id="app" data-stately="${shown}"></div>`;
  return buildPage({ title, style, body, script, rules: [`frame-src ${origin}`] });
}

/** Style in one file a concept; the later wins where two say something of the same. */
const style = [
  tokens,
  base,
  controls,
  shell,
  boxes,
  tables,
  overview,
  plots,
  why,
  timeline,
  chart,
  events,
  inspect,
  dialog,
].join(' ');
