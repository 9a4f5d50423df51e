import { text as style } from '../browser/inspector.css?text';
import { text as body } from '../browser/inspector.html?text';
import { script } from '../browser/inspector.ts?script';
import { buildPage, type Page } from '../../server/page.ts';

let page: Page | undefined;

/** Charts with their live state, events and actors; it needs nothing from anywhere else. */
export function inspectorPage(): Page {
  page ??= buildPage({ title: 'unwedge inspect', style, body, script });
  return page;
}
