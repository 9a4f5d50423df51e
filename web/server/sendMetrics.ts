import type { IncomingMessage, ServerResponse } from 'node:http';
import { type MetricFamily, metricsBody } from '../../src/policy/records/face.ts';
import { noTrace, sendText } from './httpServer.ts';

/** Path at which metrics are served. */
export const metricsPath = '/metrics';

/** Tells whether a request is for the metrics, whatever its method. */
export function asksForMetrics({ url = '/' }: Pick<IncomingMessage, 'url'>): boolean {
  return url.startsWith(metricsPath) && url.split('?', 1)[0] === metricsPath;
}

/** Answers with metrics, in the format that the request asks for. */
export function sendMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  families: readonly MetricFamily[],
): void {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD')
    return sendText(response, 405, 'Metrics are asked for by GET.', { Allow: 'GET, HEAD' });
  const { text, contentType } = metricsBody(families, headers.accept);
  response.writeHead(200, {
    ...noTrace,
    'Content-Type': contentType,
    Vary: 'Accept',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(method === 'HEAD' ? undefined : text);
}
