import { text as style } from '../browser/stately.css?text';
import { text as body } from '../browser/stately.html?text';
import { script } from '../browser/stately.ts?script';
import { buildPage, type Page } from '../../server/page.ts';

/**
 * The official inspector in a frame. Nothing is loaded from there, and no data goes there, before the person has agreed.
 * @param url - of the official inspector.
 */
export function statelyPage(url: string): Page {
  const { origin, href } = new URL(url);
  const shown = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const rules = [`frame-src ${origin}`];
  return buildPage({ title: 'unwedge inspect', style, body: body.replaceAll('{url}', () => shown), script, rules });
}
