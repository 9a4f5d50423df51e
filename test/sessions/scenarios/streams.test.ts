import { describe, expect, it } from 'vitest';
import type { StreamEnd } from '../../../src/streams/chunkRelay.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { ToolStream } from '../../../src/sessions/toolRequest.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import { fault } from '../../support/startIntegration.ts';
import { startSession, type StartedSession } from '../../support/startSession.ts';
import { ScriptedSource } from '../../streams/scriptedSource.ts';

/** A session whose turn does what the test says with a stream of the tool `complete` of `llm`. */
async function startTurn(
  work: (turn: Turn) => Promise<unknown>,
): Promise<StartedSession & { sources: ScriptedSource<string>[]; requests: unknown[]; ended: Promise<unknown> }> {
  const sources: ScriptedSource<string>[] = [];
  const requests: unknown[] = [];
  let ended!: (value: unknown) => void;
  const done = new Promise<unknown>((resolve) => {
    ended = resolve;
  });
  const started = startSession({ onMessage: async (_, turn) => ended(await work(turn)) });
  started.tool('llm', (request: never) => {
    requests.push(request);
    const source = new ScriptedSource<string>();
    sources.push(source);
    return source;
  });
  void started.session.send({ kind: 'user', text: 'go' });
  await started.clock.settle();
  return { ...started, sources, requests, ended: done };
}

/** Reads all, and says what came of it. */
async function readAll(
  stream: ToolStream<string>,
): Promise<{ texts: string[]; error: unknown; result: ToolResult<StreamEnd> }> {
  const texts: string[] = [];
  let error: unknown;
  try {
    for await (const text of stream.chunks) texts.push(text);
  } catch (thrown) {
    error = thrown;
  }
  return { texts, error, result: await stream.result };
}

const complete = (turn: Turn, options = {}): ToolStream<string> =>
  turn.stream<unknown, string>('llm', 'complete', { prompt: 'p' }, options);

describe('a stream of a turn', () => {
  it('[R-13] is handed on, and its result says how much there was', async () => {
    const { clock, sources, requests, ended, session } = await startTurn((turn) => readAll(complete(turn)));
    for (const text of ['a', 'b']) {
      sources[0]?.give(text);
      await clock.settle();
    }
    expect(session.why().calls).toHaveLength(1);
    sources[0]?.end();
    const value = { chunks: 2, firstChunkMs: 0 };
    expect(await ended).toEqual({ texts: ['a', 'b'], error: undefined, result: { status: 'ok', value, retries: 0 } });
    expect(requests).toEqual([{ tool: 'complete', input: { prompt: 'p' } }]);
  });

  it('[R-13] that its reader leaves says that nothing failed', async () => {
    const { clock, sources, ended } = await startTurn(async (turn) => {
      const stream = complete(turn, { effect: 'readOnly' });
      for await (const _ of stream.chunks) break;
      return stream.result;
    });
    sources[0]?.give('a');
    await clock.settle();
    expect(await ended).toMatchObject({
      status: 'error',
      kind: 'cancelled',
      error: 'The reader left the stream: nothing failed; it changes nothing.',
    });
  });

  it('[R-13] [G-4] that wedges is ended by the watchdog with a synthetic result, and the session goes on', async () => {
    const { clock, sources, ended, session } = await startTurn((turn) =>
      readAll(complete(turn, { longRunningMs: 60_000 })),
    );
    sources[0]?.give('a');
    await clock.advance(60_000);
    expect(await ended).toMatchObject({
      texts: ['a'],
      error: { failure: { kind: 'watchdog' } },
      result: { status: 'error', synthetic: true, outcome: 'unknown' },
    });
    expect(sources[0]?.cancelled).toBe(true);
    const next = session.send({ kind: 'user', text: 'more' });
    await clock.settle();
    expect((await next).accepted).toBe(true);
    expect(sources).toHaveLength(2);
  });

  it('[R-13] ends with its turn', async () => {
    let left: ToolStream<string> | undefined;
    const { clock, sources, ended } = await startTurn(async (turn) => {
      left = complete(turn);
      return 'the handler does not wait';
    });
    await ended;
    await clock.settle();
    expect(sources[0]?.cancelled).toBe(true);
    expect(await left?.result).toMatchObject({ status: 'error' });
    await expect(left?.chunks.next()).rejects.toMatchObject({ name: 'IntegrationError' });
  });

  it('[R-13] ends when its reader leaves', async () => {
    const { clock, sources, ended } = await startTurn(async (turn) => {
      const stream = complete(turn);
      for await (const _ of stream.chunks) break;
      return stream.result;
    });
    sources[0]?.give('a');
    await clock.settle();
    expect(await ended).toMatchObject({ status: 'error', kind: 'cancelled' });
    expect(sources[0]?.cancelled).toBe(true);
  });

  it('[R-13] is resumed by the input of its tool', async () => {
    const resume = (last: string, input: unknown, chunks: number): unknown => ({ input, last, chunks });
    const { clock, sources, requests, ended } = await startTurn((turn) => readAll(complete(turn, { resume })));
    sources[0]?.give('a');
    await clock.settle();
    sources[0]?.fail(fault('transient'));
    await clock.advance(1000);
    sources[1]?.give('b');
    await clock.settle();
    sources[1]?.end();
    expect(await ended).toMatchObject({ texts: ['a', 'b'], result: { status: 'ok', retries: 1 } });
    expect(requests[1]).toEqual({ tool: 'complete', input: { input: { prompt: 'p' }, last: 'a', chunks: 1 } });
  });

  it('[R-13] is refused where its integration is not known, and says so to its reader', async () => {
    const { ended } = await startTurn((turn) => readAll(turn.stream<unknown, string>('nobody', 'complete')));
    expect(await ended).toMatchObject({
      error: { failure: { reason: 'not_found' } },
      result: { status: 'error', error: 'No integration `nobody`; known: llm' },
    });
  });

  it('[R-17] refuses an option that is wrong at once', async () => {
    const { ended } = await startTurn(async (turn) => {
      try {
        return complete(turn, { resume: 'no' });
      } catch (error) {
        return String(error);
      }
    });
    expect(await ended).toContain('Expected `options.resume` to be a function');
  });
});
