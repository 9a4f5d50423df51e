import type { Frame } from '../frames.ts';
import { byId } from './elements.ts';

// Passes the frames on to the frame within, once it says that it listens and the person has agreed.
const { url = '' } = byId('notice').dataset;
const inner = byId<HTMLIFrameElement>('inner');
let source: EventSource | undefined;

byId('agree').addEventListener('click', () => {
  byId('agree').remove();
  byId('said').textContent = `Data goes to ${url}.`;
  inner.src = url;
});

window.addEventListener('message', ({ source: from, data }: MessageEvent<unknown>) => {
  const isReady = typeof data === 'object' && data !== null && 'type' in data && data.type === '@statelyai.connected';
  if (from !== inner.contentWindow || !isReady) return;
  // A page that was loaded anew begins anew.
  source?.close();
  const made = new EventSource(`/events${location.search}`);
  source = made;
  made.onmessage = (event: MessageEvent<string>) => {
    const frame = JSON.parse(event.data) as Frame;
    if (frame.type.startsWith('@xstate.')) inner.contentWindow?.postMessage(frame, new URL(url).origin);
    if (frame.type !== 'unwedge.end') return;
    made.close();
    byId('said').textContent = 'The gateway has stopped.';
  };
});
