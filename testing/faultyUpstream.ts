import { createServer, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';
import { type Key, byName, duration, integer, list, readValue, text } from '../src/policy/options/face.ts';
import { show } from '../src/policy/text/face.ts';
import { bodyOf, close, listen } from './loopback.ts';
import type { GivenAct, ReadAct } from './variants.ts';

const body = text({ empty: true });

const upstreamActs = {
  /** Answers, with 200 where nothing else is said: 429 with `retry-after`, 503, 529. */
  answer: {
    /** From 200 to 599. @defaultValue 200 */
    status: integer({ min: 200, max: 599 }),
    headers: byName(text({ empty: true })),
    /** @defaultValue '' */
    body,
    /** Waits so long first, in ms above 0. @defaultValue none */
    afterMs: duration(),
  },
  /** Takes the request, and sends nothing, not even headers. */
  hang: {},
  /** Sends the headers and a part of the body, then nothing more. */
  stall: { body },
  /** Sends the headers and less of the body than they promise, then ends the connection. */
  cut: { body },
  /** Resets the connection. */
  reset: {},
};

/** Act of an HTTP upstream on one request. */
export type UpstreamFault = GivenAct<typeof upstreamActs, 'answer'>;

type CheckedFault = ReadAct<typeof upstreamActs, 'answer'>;

/** By path: what happens to its first request, its second, and so on; the last goes for all that follow. */
export type UpstreamScript = Readonly<Record<string, readonly UpstreamFault[]>>;

/** A request that arrived, with its body. */
export interface ReceivedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** A running HTTP server, on the loopback address. */
export interface FaultyUpstream {
  /** Without a slash at its end. */
  readonly url: string;
  /** Every request so far, in the order they arrived. */
  readonly received: readonly ReceivedRequest[];
  /** Counts the requests that a path got. */
  requests(path: string): number;
  /** Ends every connection, the hanging ones too. */
  close(): Promise<void>;
}

/**
 * An HTTP server on a free port of 127.0.0.1 that does wrong what the script says; a path it does not name gets 404.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * const upstream = await faultyUpstream({
 *   '/search': [{ status: 429, headers: { 'retry-after': '1' } }, { do: 'reset' }, { body: 'found' }],
 * });
 */
export async function faultyUpstream(script: UpstreamScript): Promise<FaultyUpstream> {
  const checked = checkScript(script);
  const received: ReceivedRequest[] = [];
  const counts = new Map<string, number>();

  const server = createServer((request, response) => {
    void bodyOf(request).then(({ body }) => {
      const [path = '/'] = (request.url ?? '/').split('?');
      const count = (counts.get(path) ?? 0) + 1;
      counts.set(path, count);
      received.push({ method: request.method ?? '', path, headers: request.headers, body });
      const faults = checked[path] ?? [];
      befall(faults[Math.min(count, faults.length) - 1] ?? { status: 404 }, request.socket, response);
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    requests: (path) => counts.get(path) ?? 0,
    close: () => close(server),
  };
}

function befall(fault: CheckedFault, socket: Socket, response: ServerResponse): void {
  switch (fault.do) {
    case undefined:
    case 'answer': {
      const { status = 200, headers = {}, body = '', afterMs } = fault;
      const answer = (): void => void response.writeHead(status, headers).end(body);
      if (afterMs === undefined) answer();
      else setTimeout(answer, afterMs).unref();
      return;
    }
    case 'hang':
      return;
    case 'stall':
    case 'cut': {
      const { body = 'half of it' } = fault;
      response.writeHead(200, { 'content-length': String(2 * Buffer.byteLength(body) + 1) });
      response.write(body, () => {
        if (fault.do === 'cut') socket.end();
      });
      return;
    }
    case 'reset':
      socket.resetAndDestroy();
      return;
  }
}

const faultKey: Key<CheckedFault> = {
  kind: 'variants',
  by: 'do',
  usual: 'answer',
  required: true,
  of: upstreamActs,
};

const scriptKey = byName(list(faultKey, { least: 1, expected: 'a list of what happens' }), { required: true });

function checkScript(script: UpstreamScript): Readonly<Record<string, readonly CheckedFault[]>> {
  const read = readValue('script', script, scriptKey);
  const odd = Object.keys(read).find((path) => !path.startsWith('/'));
  if (odd !== undefined) throw new RangeError(`Expected a path of \`script\` to begin with "/", got ${show(odd)}`);
  for (const fault of Object.values(read).flat()) {
    for (const [header, value] of Object.entries('headers' in fault ? (fault.headers ?? {}) : {})) {
      validateHeaderName(header);
      validateHeaderValue(header, value);
    }
  }
  return read;
}
