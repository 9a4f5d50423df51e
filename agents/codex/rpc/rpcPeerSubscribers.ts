import { checkFunction, readOptions } from '../../../src/policy/options/face.ts';
import { ReaderQueue } from '../../../src/telemetry/face.ts';
import { type CodexNotification, type CodexStreamOptions, streamKeys } from '../codexTypes.ts';

/** The listeners to the notifications of one connection, each with a bounded queue of its own. */
export type Subscribers = ReturnType<typeof createSubscribers>;

interface Subscription {
  readonly methods: ReadonlySet<string> | undefined;
  /** Lets go of its signal. */
  readonly release: () => void;
}

/** Sizes of notifications that may wait for one listener, together. */
const maxSize = 16 * 1024 * 1024;
/** Failures in a row that make a listener a dead one. */
const deadAfter = 3;

/** @param onFailed - told of a listener that threw or rejected, and whether it was removed for it. Must not throw. */
export function createSubscribers(
  onFailed: (notification: CodexNotification, error: unknown, removed: boolean) => void,
) {
  const streams = new Map<ReaderQueue<CodexNotification>, Subscription>();

  const stream = (options: CodexStreamOptions = {}): ReaderQueue<CodexNotification> => {
    const { methods, limit, signal } = readOptions('options', options, streamKeys);
    const leave = (): void => void made.return();
    const made = new ReaderQueue<CodexNotification>({
      ...{ limit, maxSize },
      onReturn: () => {
        streams.delete(made);
        release();
      },
    });
    const release = (): void => signal?.removeEventListener('abort', leave);
    streams.set(made, { methods: methods === undefined ? undefined : new Set(methods), release });
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
    return made;
  };

  return {
    /** Tells all of them, in the order of their adding. @param size - of the notification, for the bound on memory. */
    publish(notification: CodexNotification, size?: number): void {
      for (const [each, { methods }] of [...streams]) {
        if (methods === undefined || methods.has(notification.method)) each.push(notification, size);
      }
    },
    /** @throws TypeError or RangeError that names the option and its value. */
    stream,
    /**
     * Calls the listener for each, one after the other; what it returns is waited for.
     * @returns how to take it off.
     */
    listen(method: string, listener: (notification: CodexNotification) => unknown): () => void {
      checkFunction('listener', listener);
      const heard = stream(method === '*' ? {} : { methods: [method] });
      void serve(heard, listener, onFailed);
      return () => void heard.return();
    },
    /** The last notification, to all whatever they wanted to hear; then every subscription ends. */
    end(last: CodexNotification): void {
      for (const [each, { release }] of streams) {
        each.push(last);
        each.end();
        release();
      }
      streams.clear();
    },
    get size(): number {
      return streams.size;
    },
  };
}

/** Never rejects. */
async function serve(
  heard: ReaderQueue<CodexNotification>,
  listener: (notification: CodexNotification) => unknown,
  onFailed: (notification: CodexNotification, error: unknown, removed: boolean) => void,
): Promise<void> {
  let failures = 0;
  for await (const notification of heard) {
    try {
      await listener(notification);
      failures = 0;
    } catch (error) {
      failures++;
      onFailed(notification, error, failures === deadAfter);
      if (failures === deadAfter) return;
    }
  }
}
