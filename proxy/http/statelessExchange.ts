import type { ServerResponse } from 'node:http';
import type { Clock } from '../../src/policy/clock.ts';
import type { McpMessage, McpRequest } from '../../src/protocol/mcp/message.ts';
import { AnswerSink } from './answerSink.ts';
import { modernStatus } from './modernHeaders.ts';
import type { SharedServer } from './sharedServer.ts';

/** Passes one request of the stateless era on, and what is said about it back. Its client's leaving calls it off. */
export function exchange(
  clock: Clock,
  server: Pick<SharedServer, 'attach'>,
  { method }: McpRequest,
  text: string,
  response: ServerResponse,
): void {
  const client = server.attach({
    heard(message: McpMessage, line: string) {
      if (message.kind !== 'answer') {
        sink.send(line, undefined);
        return;
      }
      sink.finish(line, undefined, modernStatus(message.error));
      client.end();
    },
    over: () => sink.end(),
  });
  const sink = new AnswerSink({
    clock,
    response,
    as: method === 'subscriptions/listen' ? 'stream' : 'either',
    left: () => client.end(),
  });
  void client.send(text);
}
