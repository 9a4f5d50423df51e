import { fieldsOf, idKey, type McpRequest, readMessage } from '../../../protocol/mcp/message.ts';
import { subscriptionField } from '../../../protocol/mcp/methods.ts';
import { dropBody, type HttpAnswer } from '../../../streams/readBody.ts';
import { refusalText } from './httpFailure.ts';
import type { StandingHost } from './standingStream.ts';

interface Listening {
  readonly link: Pick<StandingHost, 'clock' | 'random' | 'maxMessageBytes' | 'flow' | 'isAlive'>;
  readonly request: McpRequest;
  readonly open: (signal: AbortSignal) => Promise<HttpAnswer>;
  /** Receives one line of the server, its end included. */
  readonly out: (line: string) => void;
  /** The server refuses it for good. */
  readonly refused: (response: HttpAnswer, text: string) => void;
  /** Called once its messages are heard. @param again - whether it was before. */
  readonly opened: (again: boolean) => void;
}

/**
 * A subscription of the stateless era that stands for as long as its client wants it. The server may end it, by its result, by a cancellation or
 * by ending the stream: it is then opened again, and whoever asked hears nothing of that but what may have changed.
 */
export function listening({ link, request, open, out, refused, opened }: Listening): StandingHost {
  let isAcknowledged = false;
  return {
    ...link,
    open,
    opened(again) {
      if (again) opened(true);
    },
    async refused(response, signal) {
      const { status, ok } = response;
      const text = await refusalText(response, link.clock, signal);
      dropBody(response);
      const isFinal = ok ? isError(text, request) : status < 500 && ![401, 403, 408, 425, 429].includes(status);
      if (isFinal && ok) out(`${text.trim()}\n`);
      else if (isFinal) refused(response, text);
      return isFinal;
    },
    message(text) {
      const message = readMessage(text);
      if (message.kind === 'answer' && message.key === request.key) {
        if (message.error === undefined) return 'again';
        out(`${text}\n`);
        return 'over';
      }
      if (message.kind === 'notification') {
        const { method, params } = message;
        if (method === 'notifications/cancelled' && idKey(params['requestId']) === request.key) return 'again';
        const isOwn = idKey(fieldsOf(params['_meta'])[subscriptionField]) === request.key;
        if (method === 'notifications/subscriptions/acknowledged' && isOwn) {
          if (isAcknowledged) return 'on';
          isAcknowledged = true;
          out(`${text}\n`);
          opened(false);
          return 'on';
        }
      }
      if (message.kind !== 'garbage' && message.kind !== 'foreign') out(`${text}\n`);
      return 'on';
    },
  };
}

function isError(text: string, { key }: McpRequest): boolean {
  const message = readMessage(text);
  return message.kind === 'answer' && message.key === key && message.error !== undefined;
}
