import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Frame } from '../../../src/inspector/face.ts';

/** Shows the official inspector in a frame. Nothing is loaded from there, and no data goes there, before the person has agreed. */
export function Stately({ url }: { readonly url: string }) {
  const [hasAgreed, setAgreed] = useState(false);
  const [hasEnded, setEnded] = useState(false);
  const inner = useRef<HTMLIFrameElement>(null);
  useEffect(() => passFrames(inner, new URL(url).origin, () => setEnded(true)), [url]);
  return (
    <main class="stately">
      <p class="bar note" id="notice">
        {hasEnded ? (
          'The gateway has stopped.'
        ) : hasAgreed ? (
          `Data goes to ${url}.`
        ) : (
          <>
            <span>
              This opens <b>{url}</b>, a page of a third party. States, events and contexts of your machines, without
              secrets, will be handed to it.
            </span>
            <button type="button" class="btn" onClick={() => setAgreed(true)}>
              Open it
            </button>
          </>
        )}
      </p>
      <iframe
        ref={inner}
        id="inner"
        title="Stately Inspector"
        sandbox="allow-scripts allow-same-origin allow-forms allow-popups"
        referrerpolicy="no-referrer"
        src={hasAgreed ? url : undefined}
      />
    </main>
  );
}

/** Passes the frames on to the frame within, once it says that it listens. One that was loaded anew begins anew. */
function passFrames(inner: RefObject<HTMLIFrameElement | null>, origin: string, ended: () => void): () => void {
  let source: EventSource | undefined;
  const heard = ({ source: from, data }: MessageEvent<unknown>): void => {
    const isReady = typeof data === 'object' && data !== null && 'type' in data && data.type === '@statelyai.connected';
    const target = inner.current?.contentWindow;
    if (!isReady || target === undefined || target === null || from !== target) return;
    source?.close();
    const made = new EventSource(`/events${location.search}`);
    source = made;
    made.onmessage = (event: MessageEvent<string>) => {
      const frame = JSON.parse(event.data) as Frame;
      if (frame.type.startsWith('@xstate.')) target.postMessage(frame, origin);
      if (frame.type !== 'unwedge.end') return;
      made.close();
      ended();
    };
  };
  addEventListener('message', heard);
  return () => removeEventListener('message', heard);
}
