import { buildPage, type Page } from '../../server/page.ts';
import { style } from './styles.ts';
import { script } from '../browser/dashboard.tsx?script';

let page: Page | undefined;

/** One file with all it needs; what it shows it asks for. */
export function dashboardPage(): Page {
  page ??= buildPage({ title: 'unwedge dashboard', style, body: '<div id="app"></div>', script });
  return page;
}
