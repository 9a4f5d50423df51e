import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/policy/clock.ts';
import { sendText, startHttpServer } from '../../web/server/httpServer.ts';

/** Values that the browser brought back. */
export interface Callback {
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  /** The name of the error, where there was one. */
  readonly error?: string | undefined;
}

/** Waits on a port of this machine for the browser to come back from a sign-in. */
export interface CallbackListener {
  readonly redirectUrl: string;
  /** Resolves with the first that carries our state; others are turned away. */
  readonly callback: Promise<Callback>;
  close(): Promise<void>;
}

const path = '/callback';
const lastAnswerMs = 500;

/** @param port - 0 for any. @throws when the port cannot be had. */
export async function listenForCallback(clock: Clock, port: number, state: string): Promise<CallbackListener> {
  let settle: (callback: Callback) => void;
  const callback = new Promise<Callback>((resolve) => {
    settle = resolve;
  });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const asked = new URL(request.url ?? '/', 'http://127.0.0.1');
    const get = (name: string): string | undefined => asked.searchParams.get(name) ?? undefined;
    if (request.method !== 'GET' || asked.pathname !== path) return sendText(response, 404, 'There is nothing here.');
    if (get('state') !== state) return sendText(response, 400, 'This is not the sign-in that is waited for.');
    const error = get('error');
    sendText(response, 200, error === undefined ? 'Signed in. You can close this page.' : 'The sign-in was refused.');
    settle({ code: get('code'), iss: get('iss'), error });
  };
  // The page of the sign-in sends the browser here by a redirect.
  const server = await startHttpServer({ clock, port, answer, holdsProcess: true, isLinked: true });
  // The last answer may still be on its way.
  return { redirectUrl: `${server.origin}${path}`, callback, close: () => server.close(lastAnswerMs) };
}
