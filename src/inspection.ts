import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { Runtime } from './runtime.ts';
import { createRedactor } from './store/redact.ts';
import { secretValues } from './store/secrets.ts';
import type { FrameFeed } from './telemetry/inspector/feed.ts';

/** A feed that is made for the first viewer. */
export interface Inspection extends Pick<FrameFeed, 'viewers' | 'closed' | 'close' | 'onClose'> {
  /** As {@link FrameFeed.open}. @throws Error when it is closed, or cannot be loaded. */
  open(): Promise<Readable>;
}

/** The machines of a runtime as frames for inspectors, without secrets; what of the environment is secret is looked up when somebody watches. */
export function createInspection({ root, clock }: Pick<Runtime, 'root' | 'clock'>): Inspection {
  const closing = new Set<() => void>();
  let feed: FrameFeed | undefined;
  let closed = false;

  /** Loaded for the first viewer: most gateways are never looked at. */
  async function load(): Promise<FrameFeed> {
    if (closed) throw new Error('The gateway has stopped');
    const [{ createFeed }, { createDisclose }] = await Promise.all([
      import('./telemetry/inspector/feed.ts'),
      import('./telemetry/inspector/disclose.ts'),
    ]);
    if (closed) throw new Error('The gateway has stopped');
    feed ??= createFeed({
      root,
      clock,
      disclose: () => createDisclose(createRedactor(secretValues(process.env))),
      name: basename(process.argv[1] ?? process.execPath),
      pid: process.pid,
    });
    return feed;
  }

  return {
    async open() {
      return (await load()).open();
    },
    get viewers() {
      return feed?.viewers ?? 0;
    },
    get closed() {
      return closed;
    },
    close() {
      if (closed) return;
      closed = true;
      feed?.close();
      for (const listener of closing) listener();
    },
    onClose(listener) {
      if (closed) listener();
      else closing.add(listener);
    },
  };
}

const inspections = new WeakMap<object, Inspection>();

/** Notes how a gateway is inspected; its own interface has no place for that. Gives the gateway back. */
export function withInspection<G extends object>(frames: Inspection, gateway: G): G {
  inspections.set(gateway, frames);
  return gateway;
}

export function inspectionOf(gateway: object): Inspection | undefined {
  return inspections.get(gateway);
}
