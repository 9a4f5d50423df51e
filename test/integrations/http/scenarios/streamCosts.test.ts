import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  anthropicEvents,
  type EventRules,
  type HttpIntegration,
  type HttpOptions,
  openAiEvents,
} from '../../../../src/index.ts';
import { inTurn, startGateway, startServer } from '../startHttp.ts';

const request = { method: 'POST', path: 'messages', body: { stream: true } };

/** A model whose every answer is a stream of these events. */
async function startModel(frames: string, options: Partial<HttpOptions>, headers: Record<string, string> = {}) {
  const server = await startServer(
    inTurn((response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).end(frames);
    }),
  );
  let llm!: HttpIntegration;
  const { clock } = await startGateway((gateway) => {
    llm = gateway.http('llm', { baseUrl: server.url, ...options });
  });
  return { llm, clock };
}

async function readToEnd({ llm }: { readonly llm: HttpIntegration }) {
  const { chunks, outcome } = llm.stream(request);
  try {
    for await (const chunk of chunks) void chunk;
  } catch {
    // The outcome says the same.
  }
  return outcome;
}

const frame = (event: string | undefined, data: object): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

const anthropic =
  frame('message_start', {
    message: { usage: { input_tokens: 500, cache_creation_input_tokens: 100, output_tokens: 1 } },
  }) +
  frame('content_block_delta', { delta: { text: '"usage": {"input_tokens": 9999}' } }) +
  frame('message_delta', { usage: { output_tokens: 300 } });
const responses = frame('response.completed', { response: { usage: { input_tokens: 600, output_tokens: 300 } } });
const failed = frame('response.failed', {
  response: { error: { code: 'invalid_prompt' }, usage: { input_tokens: 600, output_tokens: 300 } },
});
const chat =
  frame(undefined, { choices: [{ delta: { content: 'a' } }], usage: null }) +
  frame(undefined, { choices: [], usage: { prompt_tokens: 600, completion_tokens: 300, total_tokens: 900 } });

describe('what a stream costs', () => {
  it.each<[string, string, EventRules, boolean]>([
    ['Anthropic', `${anthropic}event: message_stop\ndata: {}\n\n`, anthropicEvents, true],
    ['Anthropic, cut', anthropic, anthropicEvents, false],
    ['Responses', responses, openAiEvents, true],
    ['Responses, failed', failed, openAiEvents, false],
    ['Chat Completions', `${chat}data: [DONE]\n\n`, openAiEvents, true],
  ])('[R-15] [R-14] corrects the limit by its events: %s', async (_, frames, events, isWhole) => {
    const model = await startModel(frames, { events, rate: { tokens: 1000, cost: () => 150 } });
    expect((await readToEnd(model)).ok).toBe(isWhole);
    // 900 are gone: 50 more come back in 3 s.
    expect(await model.llm.call(request, { overallMs: 10 })).toMatchObject({
      failure: { kind: 'rate_limit', retryAfterMs: 3000 },
    });
  });

  it('[R-15] counts what it reads and what it writes each by itself', async () => {
    const costs = { inputTokens: 700, outputTokens: 5000 };
    const rate = { costs, cost: () => ({ inputTokens: 150, outputTokens: 10 }) };
    const model = await startModel(`${anthropic}event: message_stop\ndata: {}\n\n`, { events: anthropicEvents, rate });
    await readToEnd(model);
    expect(await model.llm.call(request, { overallMs: 10 })).toMatchObject({
      failure: { kind: 'rate_limit', retryAfterMs: Math.ceil((50 / 700) * 60_000) },
    });
  });

  it('[R-15] is what rules of the caller say, who knows what was said before; nonsense is no word', async () => {
    const seen: unknown[] = [];
    const spent: EventRules['spent'] = ({ data }, soFar) => {
      seen.push(soFar);
      if (data === 'throws') throw new Error('by the caller');
      return Number(data);
    };
    const frames = ['100', 'much', 'throws', '900'].map((data) => `data: ${data}\n\n`).join('');
    const model = await startModel(frames, { events: { spent }, rate: { tokens: 1000, cost: () => 150 } });
    expect(await readToEnd(model)).toMatchObject({ ok: true, value: { chunks: 4 } });
    expect(seen).toEqual([{}, { tokens: 100 }, { tokens: 100 }, { tokens: 100 }]);
    expect(await model.llm.call(request, { overallMs: 10 })).toMatchObject({ failure: { retryAfterMs: 3000 } });
  });

  it('[R-15] learns the limits that its headers tell', async () => {
    const headers = {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '60s',
    };
    const model = await startModel(responses, { events: openAiEvents }, headers);
    expect((await readToEnd(model)).ok).toBe(true);
    expect(await model.llm.call(request, { overallMs: 10 })).toMatchObject({ failure: { kind: 'rate_limit' } });
  });
});
