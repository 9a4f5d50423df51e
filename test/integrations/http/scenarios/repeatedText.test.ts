import { describe, expect, it } from 'vitest';
import type { FactOf } from '../../../../src/index.ts';
import { inTurn, startServer } from '../startHttp.ts';
import { answers, readAll, request, startModel } from '../startStreams.ts';

const passage = 'I will look at the file again. ';
const first = 'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n';
const delta = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${JSON.stringify(passage)}}}\n\n`;
const last = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const stream = [first, delta.repeat(100), last];

async function start(script: readonly string[], repeatedText?: 'off' | 'notice' | 'end') {
  const server = await startServer(inTurn(answers(...script)));
  const started = await startModel(server, { ...(repeatedText && { repeatedText }) });
  const told: FactOf<'call.repeats_itself'>[] = [];
  started.gateway.on('call.repeats_itself', (fact) => told.push(fact));
  return { ...started, told };
}

describe('a stream of a model whose text repeats itself', () => {
  it('[R-13] is told once, and comes to its end', async () => {
    const { llm, told } = await start(stream);
    const { chunks, thrown } = await readAll(llm.stream(request, { label: 'ask' }));
    expect([chunks.length, thrown]).toEqual([102, undefined]);
    expect(told).toMatchObject([{ integration: 'llm', label: 'ask', characters: passage.length }]);
    expect(told[0]?.call).toMatch(/^llm-\d+$/);
  });

  it('[R-13] ends as a failure by option, which is not tried again and opens no circuit', async () => {
    const { llm, told } = await start(stream, 'end');
    const { chunks, thrown } = await readAll(llm.stream(request));
    expect(chunks.length).toBeLessThan(90);
    expect(thrown?.failure).toMatchObject({
      kind: 'spinning',
      attempts: 1,
      retryable: false,
      message: 'The text is one passage of 31 characters over and over',
    });
    expect(told.length).toBe(1);
  });

  it('[R-13] is not looked for where that is off, nor in a stream of anybody else', async () => {
    for (const [script, how] of [
      [stream, 'off'],
      [[`data: ${JSON.stringify({ text: passage })}\n\n`.repeat(200)], 'end'],
    ] as const) {
      const { llm, told } = await start(script, how);
      expect((await readAll(llm.stream(request))).thrown).toBeUndefined();
      expect(told).toEqual([]);
    }
  });
});
