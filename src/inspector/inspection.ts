import type { Readable } from 'node:stream';
import type { Runtime } from '../runtime/runtime.ts';
import type { FrameFeed } from './feed.ts';
import { lateModule } from '../actors/process/lateModule.ts';

const feedModule = lateModule(() => import('./inspectionFeed.ts'));

/** A feed that is made for the first viewer. */
export interface Inspection extends Pick<FrameFeed, 'viewers' | 'close'> {
  readonly closed: boolean;
  /** Calls back when it is closed, at once when it is already. */
  onClose(listener: () => void): void;
  /** As {@link FrameFeed.open}. @throws Error when it is closed, or cannot be loaded. */
  open(): Promise<Readable>;
}

/** The machines of a runtime as frames for inspectors, without secrets. */
export function createInspection(runtime: Pick<Runtime, 'root' | 'clock' | 'secrets'>): Inspection {
  const closing = new Set<() => void>();
  let feed: FrameFeed | undefined;
  let closed = false;

  /** Loaded for the first viewer: most gateways are never looked at. */
  async function load(): Promise<FrameFeed> {
    if (closed) throw new Error('The gateway has stopped');
    const { createInspectionFeed } = await feedModule();
    if (closed) throw new Error('The gateway has stopped');
    feed ??= createInspectionFeed(runtime);
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
