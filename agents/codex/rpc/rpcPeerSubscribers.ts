import { checkFunction } from '../../../src/policy/options.ts';
import { type BoundedStream, createBoundedStream } from './rpcPeerStream.ts';

/** Message that a peer sends without having been asked. */
interface Notification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface SubscriptionOptions {
  /** Methods to hear. @defaultValue all */
  readonly methods?: readonly string[] | undefined;
  /** Notifications that may wait; one more drops the oldest. At least 1. @defaultValue 1000 */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The listeners to the notifications of one connection, each with a bounded queue of its own. */
export type Subscribers = ReturnType<typeof createSubscribers>;

interface Subscription {
  readonly methods: ReadonlySet<string> | undefined;
  /** Lets go of its signal. */
  readonly release: () => void;
}

/** Failures in a row that make a listener a dead one. */
const deadAfter = 3;

/** @param onFailed - told of a listener that threw or rejected, and whether it was removed for it. Must not throw. */
export function createSubscribers(onFailed: (notification: Notification, error: unknown, removed: boolean) => void) {
  const streams = new Map<BoundedStream<Notification>, Subscription>();

  const stream = ({ methods, limit, signal }: SubscriptionOptions = {}): BoundedStream<Notification> => {
    const leave = (): void => void made.return();
    const made = createBoundedStream<Notification>({
      limit,
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
    publish(notification: Notification, size?: number): void {
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
    listen(method: string, listener: (notification: Notification) => unknown): () => void {
      checkFunction('listener', listener);
      const heard = stream(method === '*' ? {} : { methods: [method] });
      void serve(heard, listener, onFailed);
      return () => void heard.return();
    },
    /** The last notification, to all whatever they wanted to hear; then every subscription ends. */
    end(last: Notification): void {
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
  heard: BoundedStream<Notification>,
  listener: (notification: Notification) => unknown,
  onFailed: (notification: Notification, error: unknown, removed: boolean) => void,
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
