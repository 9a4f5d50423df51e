import { request as plainRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream';
import { answerHeaders, requestHeaders } from '../../proxy/api/passedHeaders.ts';
import { joinPath } from '../../proxy/api/upstream.ts';

/** Hands a request on to an API, and its answer back, as they come: nothing is judged, limited or sent again. For `UNWEDGE=off`. */
export function passApi(upstream: string): (request: IncomingMessage, response: ServerResponse) => void {
  const base = new URL(upstream);
  const ask = base.protocol === 'https:' ? secureRequest : plainRequest;
  return (request, response) => {
    const { rawHeaders, headers, method, url = '/' } = request;
    const unchanged = { host: base.host, bodyBytes: undefined, isRead: false, key: undefined };
    const passed = ask({
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port,
      path: joinPath(base.pathname, url),
      method,
      headers: requestHeaders(rawHeaders, headers, unchanged),
    });
    passed.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answerHeaders(answer.rawHeaders, answer.headers, false));
      response.flushHeaders();
      pipeline(answer, response, () => undefined);
    });
    passed.on('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.once('close', () => passed.destroy());
    pipeline(request, passed, () => undefined);
  };
}
