/** One JSON-RPC message as it crossed the wire; what it is the transcript does not care. */
export interface WireMessage {
  readonly id?: string | number | undefined;
  readonly method?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
}

/** What crossed a client's transport, each direction in its own order. */
export interface Transcript {
  readonly sent: readonly WireMessage[];
  readonly received: readonly WireMessage[];
}

/** A transcript that is being written. */
export interface Recording extends Transcript {
  /** Resolves with the first message received, from now or before, that `is` it. */
  seen(is: (message: WireMessage) => boolean): Promise<WireMessage>;
}

/** What the transports of both official SDKs have in common. */
interface Recordable {
  send(message: object, ...rest: unknown[]): Promise<void>;
  onmessage?: ((message: never, ...rest: never[]) => void) | undefined;
}

/**
 * Writes down all that crosses a transport. The object stays what it is: the modern client asks whether it is exactly the
 * transport of its SDK.
 */
export function record(transport: object): Recording {
  const recorded = transport as Recordable;
  const sent: WireMessage[] = [];
  const received: WireMessage[] = [];
  const waiting: { readonly is: (message: WireMessage) => boolean; readonly resolve: (found: WireMessage) => void }[] =
    [];
  const send = recorded.send.bind(transport);
  recorded.send = (message, ...rest) => {
    sent.push(message);
    return send(message, ...rest);
  };
  let listener: Recordable['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () =>
      listener === undefined
        ? undefined
        : (message: never, ...rest: never[]) => {
            received.push(message);
            for (const { is, resolve } of waiting) if (is(message)) resolve(message);
            listener?.(message, ...rest);
          },
    set(next: Recordable['onmessage']) {
      listener = next;
    },
  });
  return {
    sent,
    received,
    seen: (is) =>
      new Promise((resolve) => {
        const found = received.find(is);
        if (found !== undefined) resolve(found);
        else waiting.push({ is, resolve });
      }),
  };
}

/**
 * A transcript without what differs between any two runs: times of day, random ids, the directory of the run, and progress of calls
 * that the client had cancelled by then, which may or may not come.
 * @param directory - what the run had of its own on disk
 */
export function comparable({ sent, received }: Transcript, directory: string): Transcript {
  const cancelled = new Set(
    sent.filter(({ method }) => method === 'notifications/cancelled').map(({ params }) => params?.['requestId']),
  );
  const expected = received.filter(
    ({ method, params }) => method !== 'notifications/progress' || !cancelled.has(params?.['progressToken']),
  );
  return { sent: masked(sent, directory), received: masked(expected, directory) };
}

function masked(messages: readonly WireMessage[], directory: string): WireMessage[] {
  const text = JSON.stringify(messages, (key, value: unknown) => {
    if (key === 'blob' && typeof value === 'string') return Buffer.from(value, 'base64').toString();
    if (key === 'text' && typeof value === 'string' && value.includes('"HOME":')) return withoutMark(value);
    return value;
  });
  return JSON.parse(
    text
      .replaceAll(directory, '<directory>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/\d{1,2}:\d\d:\d\d( [AP]M)?/g, '<time>')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
      .replace(/("taskId":|taskId=|Task created: |task )"?[0-9a-f]{32}"?/g, '$1"<task>"'),
  ) as WireMessage[];
}

/** The environment of a server, without the mark by which the proxy finds its processes. */
function withoutMark(environment: string): unknown {
  const { UNWEDGE_RUN: _, ...rest } = JSON.parse(environment) as Record<string, unknown>;
  return rest;
}
