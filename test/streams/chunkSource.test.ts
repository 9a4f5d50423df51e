import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openChunkSource } from '../../src/streams/chunkSource.ts';

/** All chunks of an answer, as text. */
async function chunksOf(answer: unknown): Promise<string[]> {
  const source = openChunkSource<Uint8Array | string>(answer);
  if (source === undefined) throw new Error('It is no stream');
  const chunks: string[] = [];
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    chunks.push(typeof next.value === 'string' ? next.value : new TextDecoder().decode(next.value));
  }
  return chunks;
}

async function* letters() {
  yield 'a';
  yield 'b';
}

describe('what is read as a stream', () => {
  it.each([
    ['an async iterable', () => letters()],
    ['a web stream', () => ReadableStream.from(letters())],
    ['a Node stream', () => Readable.from(letters())],
    ['a response', () => new Response('ab')],
    ['a response without a body', () => new Response(null)],
  ])('[R-13] is %s', async (_, answer) => {
    const text = (await chunksOf(answer())).join('');
    expect(text).toBe(answer() instanceof Response && (answer() as Response).body === null ? '' : 'ab');
  });

  it.each([undefined, null, 7, 'text', { status: 200 }, [1, 2], () => letters()])(
    '[R-13] is nothing else: %s',
    (answer) => {
      expect(openChunkSource(answer)).toBeUndefined();
    },
  );

  it('[R-13] is not what somebody else reads already', () => {
    const stream = ReadableStream.from(letters());
    stream.getReader();
    expect(() => openChunkSource(stream)).toThrow('The stream is read by somebody else already');
  });

  it('[R-13] may answer at once, and throw, by hand', async () => {
    const atOnce = { [Symbol.asyncIterator]: () => ({ next: () => ({ done: true, value: 1 }) }) };
    expect(openChunkSource(atOnce)?.next()).toEqual({ done: true, value: 1 });
    const throws = {
      [Symbol.asyncIterator]: () => ({
        next() {
          throw new Error('by hand');
        },
      }),
    };
    expect(() => openChunkSource(throws)?.next()).toThrow('by hand');
  });

  it('[R-13] [I-3] lets go of what it reads', async () => {
    const readable = new Readable({ read: () => undefined });
    const source = openChunkSource(readable);
    const next = Promise.resolve(source?.next());
    await Promise.all([next.catch(() => undefined), source?.cancel('enough')]);
    expect(readable.destroyed).toBe(true);
    let reason: unknown;
    const web = openChunkSource(new ReadableStream({ cancel: (why) => void (reason = why) }));
    await web?.cancel('enough');
    expect(reason).toBe('enough');
  });
});
