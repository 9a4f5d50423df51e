import { buildPage, type Page } from './page.ts';

const style = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; margin: 0; }
html, body { height: 100%; }
body { display: flex; flex-direction: column; font: 14px/1.5 system-ui, sans-serif; }
#notice { display: flex; align-items: center; gap: 14px; padding: 8px 14px; background: #fdf0d9; color: #5c3600; }
#notice p { flex: 1; }
button { font: inherit; padding: 4px 14px; border: 1px solid #9a5b00; border-radius: 6px; background: #fff; color: #5c3600; cursor: pointer; }
iframe { flex: 1; border: 0; }
`;

/** Passes the frames on to the frame within, once it says that it listens and the person has agreed. */
const script = String.raw`
'use strict';
const notice = document.getElementById('notice');
const url = notice.dataset.url;
const inner = document.getElementById('inner');
const said = document.getElementById('said');
let source;

document.getElementById('agree').addEventListener('click', () => {
  document.getElementById('agree').remove();
  said.textContent = 'Data goes to ' + url + '.';
  inner.src = url;
});

window.addEventListener('message', ({ source: from, data }) => {
  if (from !== inner.contentWindow || data === null || typeof data !== 'object' || data.type !== '@statelyai.connected') return;
  // A page that was loaded anew begins anew.
  source?.close();
  source = new EventSource('/events' + location.search);
  source.onmessage = (event) => {
    const frame = JSON.parse(event.data);
    if (frame.type.startsWith('@xstate.')) inner.contentWindow.postMessage(frame, new URL(url).origin);
    if (frame.type === 'unwedge.end') {
      source.close();
      said.textContent = 'The gateway has stopped.';
    }
  };
});
`;

/**
 * The official inspector in a frame. Nothing is loaded from there, and no data goes there, before the person has agreed.
 * @param url - of the official inspector.
 */
export function statelyPage(url: string): Page {
  const { origin, href } = new URL(url);
  const shown = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const body = `
<div id="notice" data-url="${shown}">
  <p id="said">This opens <b>${shown}</b>, a page of a third party. States, events and contexts of your machines, without secrets, will be handed to it.</p>
  <button id="agree" type="button">Open it</button>
</div>
<iframe id="inner" title="Stately Inspector" sandbox="allow-scripts allow-same-origin allow-forms allow-popups" referrerpolicy="no-referrer"></iframe>
`;
  return buildPage({ title: 'unwedge inspect', style, body, script, rules: [`frame-src ${origin}`] });
}
