import { effect } from '@preact/signals';
import { render } from 'preact';
import { logIn } from './api.ts';
import { isHelpShown } from './help.tsx';
import { inspect } from './inspected.ts';
import { InspectPage } from './inspectPage.tsx';
import { listen, pause, paused } from './live.ts';
import { href, span, views } from './route.ts';
import { Shell } from './shell.tsx';
import { Stately } from './stately.tsx';
import { restoreTheme } from './theme.ts';
import { absolute } from './times.tsx';

restoreTheme();
listenToKeys();
const app = document.getElementById('app');
if (app !== null) void open(app);

/** Shows the view that the page is for: the official inspector, the machines of one gateway, or all of the dashboard. */
async function open(root: HTMLElement): Promise<void> {
  const { stately, inspect: isInspected } = root.dataset;
  if (stately !== undefined) return render(<Stately url={stately} />, root);
  if (isInspected !== undefined) {
    inspect();
    return render(<InspectPage />, root);
  }
  // A request before the cookie is there would be refused.
  await logIn();
  effect(() => listen(span.value));
  render(<Shell />, root);
}

/** Keys of the page; none of them acts while somebody types, or with a key of the browser held. */
function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]') !== null) return;
    if (target instanceof HTMLElement && target.matches('input:not([type=checkbox]), select, textarea')) {
      if (key === 'Escape') target.blur();
      return;
    }
    const view = views[Number(key) - 1];
    if (view !== undefined) location.hash = href(view);
    else if (key === '/') document.getElementById('find')?.focus();
    else if (key === '?') isHelpShown.value = true;
    else if (key === 'p') pause(!paused.value);
    else if (key === 't') absolute.value = !absolute.value;
    else if (key === 'x') pick();
    else if (key === 'j') step(1);
    else if (key === 'k') step(-1);
    else return;
    event.preventDefault();
  });
}

/** Chooses the row that has the focus, or no longer does. */
function pick(): void {
  document.activeElement?.closest('[data-row]')?.querySelector<HTMLElement>('.pick')?.click();
}

/** To the next row or the one before: the first thing in it that can be opened. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? (by === 1 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
  (next?.querySelector<HTMLElement>('a, summary, button') ?? next)?.focus();
}
