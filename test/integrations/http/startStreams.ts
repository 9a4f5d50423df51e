import type { ServerResponse } from 'node:http';
import {
  type CallStream,
  type HttpIntegration,
  type HttpOptions,
  IntegrationError,
  type ServerSentEvent,
} from '../../../src/index.ts';
import { type HttpServer, startGateway } from './startHttp.ts';

export async function startModel({ url }: Pick<HttpServer, 'url'>, options: Partial<HttpOptions> = {}) {
  let llm!: HttpIntegration;
  const { clock, gateway } = await startGateway((declared) => {
    llm = declared.http('llm', { baseUrl: url, ...options });
  });
  return { llm, clock, gateway };
}

const asEvents = { 'content-type': 'text/event-stream; charset=utf-8' };
export const request = { method: 'POST', path: 'messages', body: { stream: true } };

/** Begins a stream of events with these bytes, and leaves it open. */
export const begins =
  (...texts: (string | Uint8Array)[]) =>
  (response: ServerResponse): void => {
    response.writeHead(200, asEvents);
    response.flushHeaders();
    for (const text of texts) response.write(text);
  };
/** The same, ended in good order. */
export const answers =
  (...texts: (string | Uint8Array)[]) =>
  (response: ServerResponse): void => {
    begins(...texts)(response);
    response.end();
  };
/** The same, and the connection is closed in the middle once it was sent. */
export const cuts =
  (...texts: (string | Uint8Array)[]) =>
  (response: ServerResponse): void => {
    begins(...texts)(response);
    response.write('', () => response.socket?.destroy());
  };
export const refuses = (response: ServerResponse): void => {
  response.writeHead(503, { 'retry-after-ms': '0' }).end();
};

/** All chunks, and what the loop threw after them. */
export async function readAll<C>({
  chunks,
}: CallStream<C>): Promise<{ chunks: C[]; thrown: IntegrationError | undefined }> {
  const taken: C[] = [];
  try {
    for await (const chunk of chunks) taken.push(chunk);
  } catch (error) {
    if (!(error instanceof IntegrationError)) throw error;
    return { chunks: taken, thrown: error };
  }
  return { chunks: taken, thrown: undefined };
}

export const dataOf = (events: readonly ServerSentEvent[]): string[] => events.map(({ data }) => data);
