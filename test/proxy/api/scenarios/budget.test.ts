import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Shape, paths } from '../conversations.ts';
import { startApiProxy } from '../startApiProxy.ts';

const stream = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
/** Whole answers and streams of each protocol that say 100 tokens read and 20 written. */
const answers: Readonly<Record<Exclude<Shape, never>, { readonly whole: object; readonly streamed: string }>> = {
  messages: {
    whole: {
      type: 'message',
      model: 'claude-x',
      content: [],
      usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 20 },
    },
    streamed: stream(
      {
        type: 'message_start',
        message: { model: 'claude-x', usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 1 } },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ),
  },
  chat: {
    whole: { model: 'gpt-x', choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } },
    streamed: `${stream({ model: 'gpt-x', choices: [{ index: 0, delta: { content: 'hi' } }] }, { model: 'gpt-x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } })}data: [DONE]\n\n`,
  },
  responses: {
    whole: { model: 'gpt-x', output: [], usage: { input_tokens: 100, output_tokens: 20 } },
    streamed: stream(
      { type: 'response.created', response: { model: 'gpt-x' } },
      { type: 'response.completed', response: { model: 'gpt-x', usage: { input_tokens: 100, output_tokens: 20 } } },
    ),
  },
  gemini: {
    whole: {
      modelVersion: 'gemini-x',
      candidates: [],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 15, thoughtsTokenCount: 5 },
    },
    streamed: stream({
      modelVersion: 'gemini-x',
      candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 15, thoughtsTokenCount: 5 },
    }),
  },
};

/** A model API that answers every request with this. */
async function startModel(answer: object | string) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    request.resume().on('end', () => {
      const isText = typeof answer === 'string';
      response.writeHead(200, { 'content-type': isText ? 'text/event-stream' : 'application/json' });
      response.end(isText ? answer : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { asked, upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe.each(['messages', 'chat', 'responses', 'gemini'] as const)('the budget of unwedge api: %s', (shape) => {
  it.each(['whole', 'streamed'] as const)(
    '[G-16] counts the tokens of %s answers, and refuses the request after it is spent so that nobody repeats it',
    async (form) => {
      const { asked, upstream } = await startModel(answers[shape][form]);
      const { ask, of } = await startApiProxy({ upstream, spending: { day: { tokens: 300 } } });
      const send = () =>
        ask({ path: paths[shape], body: JSON.stringify({ model: 'm', stream: form === 'streamed', messages: [] }) })
          .got;
      for (let i = 0; i < 3; i++) expect((await send()).status).toBe(200);
      const { status, headers, text } = await send();
      expect([status, headers['x-should-retry']]).toEqual([400, 'false']);
      expect(text).toContain('model is refused, until 00:00 UTC: its budget of 300 tokens of the day is spent');
      expect(asked).toHaveLength(3);
      expect(of('budget.spent')).toMatchObject([{ scope: 'api:model', metric: 'tokens', used: 360 }]);
    },
  );
});

describe('the budget of unwedge api', () => {
  it('[G-16] counts money by the prices that its user gives, and requests of the model alone', async () => {
    const { upstream } = await startModel(answers.messages.whole);
    const { ask, of } = await startApiProxy({
      upstream,
      spending: {
        day: { requests: 10, money: 0.001 },
        prices: { 'claude-*': { input: 3, output: 15, cacheRead: 0.3 } },
      },
    });
    const send = (path: string) => ask({ path, body: JSON.stringify({ model: 'claude-x', messages: [] }) }).got;
    for (let i = 0; i < 3; i++) await send(paths.messages);
    expect((await send(paths.messages)).status).toBe(400);
    expect((await send('/v1/files')).status).toBe(200);
    // 60 at 3, 40 at 0.3 and 20 at 15 by the million are 492 millionths.
    expect(of('budget.spent')).toMatchObject([{ metric: 'money', used: expect.closeTo(0.001_476, 5) as number }]);
  });
});
