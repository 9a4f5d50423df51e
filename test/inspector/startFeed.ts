import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { ChildSpec } from '../../src/supervisor/childSpec.ts';
import { createMaskedJson } from '../../src/redaction/redactFact.ts';
import type { ChartTransition } from '../../src/inspector/chart.ts';
import { createDisclose } from '../../src/inspector/disclose.ts';
import { createFeed, type FeedOptions } from '../../src/inspector/feed.ts';
import { startRoot } from '../supervisor/startRoot.ts';

export interface AnyFrame {
  readonly type: string;
  readonly sessionId?: string;
  readonly parentId?: string;
  readonly sourceId?: string;
  readonly name?: string;
  readonly definition?: string;
  readonly createdAt?: string;
  readonly event?: { readonly type: string };
  readonly snapshot?: { readonly status: string; readonly value?: unknown; readonly context?: unknown };
  readonly taken?: readonly ChartTransition[];
  readonly missed?: number;
  readonly actors?: number;
}

/** What can be read of a stream now. */
export function readNow(stream: Readable): AnyFrame[] {
  const frames: AnyFrame[] = [];
  for (let text = stream.read() as string | null; text !== null; text = stream.read() as string | null)
    frames.push(JSON.parse(text) as AnyFrame);
  return frames;
}

/** A started root with these children, and a feed of it. */
export function startFeed(children: readonly ChildSpec[], options: Partial<FeedOptions> = {}) {
  const started = startRoot(children);
  const { root, clock } = started;
  let discloses = 0;
  let watching = 0;
  const feed = createFeed({
    root: {
      actor: root.actor,
      inspect(observer) {
        const stop = root.inspect(observer);
        watching += 1;
        return () => {
          watching -= 1;
          stop();
        };
      },
    },
    clock,
    disclose: () => {
      discloses += 1;
      return createDisclose(createMaskedJson());
    },
    name: 'gateway.mjs',
    pid: 4711,
    ...options,
  });
  onTestFinished(() => feed.close());
  return { ...started, feed, discloses: () => discloses, watching: () => watching };
}
