import { describe, expect, it } from 'vitest';
import { paths, type Shape } from '../conversations.ts';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const passage = 'I will look at the file again. ';
const repeats = passage.repeat(100);
const shapes = ['messages', 'chat', 'responses', 'gemini'] as const satisfies readonly Shape[];
const bodyOf = (shape: Shape): string => (shape === 'gemini' ? '{"contents":[]}' : streamed());

describe.each(shapes)('a text that repeats itself: %s', (shape) => {
  it('[R-13] is told once, and passes to its end', async () => {
    const { ask, of } = await startApiProxy({ script: [{ text: repeats }] });
    const got = await ask({ path: paths[shape], body: bodyOf(shape) }).got;
    expect(got).toMatchObject({ status: 200, whole: true });
    expect(got.text.split('again').length).toBeGreaterThan(100);
    expect(of('call.repeats_itself')).toMatchObject([
      { integration: expect.stringMatching(/^model/) as string, characters: passage.length },
    ]);
    expect(of('call.succeeded').length).toBeGreaterThan(0);
  });

  it('[R-13] ends as a failure by option', async () => {
    const { ask, of } = await startApiProxy({ script: [{ text: repeats }], spinning: 'end' });
    const got = await ask({ path: paths[shape], body: bodyOf(shape) }).got;
    expect(got.text.split('again').length).toBeLessThan(90);
    const says = got.text.includes('The text is one passage of 31 characters over and over');
    expect({ says, whole: got.whole }).toEqual(
      shape === 'gemini' ? { says: false, whole: false } : { says: true, whole: true },
    );
    expect(of('call.failed').map(({ failure }) => failure.kind)).toContain('spinning');
    expect(of('call.retried')).toEqual([]);
    expect(of('breaker.opened')).toEqual([]);
  });

  it('[R-13] is none in the arguments of a call, nor where text goes on', async () => {
    const text = Array.from({ length: 300 }, (_, number) => `Sentence ${number} is another one. `).join('');
    const tool = { name: 'Write', input: { text: repeats, content: repeats } };
    const { ask, of } = await startApiProxy({ script: [{ text, tool }], spinning: 'end' });
    expect(await ask({ path: paths[shape], body: bodyOf(shape) }).got).toMatchObject({ whole: true });
    expect(of('call.repeats_itself')).toEqual([]);
  });
});

describe('a text that repeats itself', () => {
  it('[R-13] is not looked for where that is off', async () => {
    const { ask, of } = await startApiProxy({ script: [{ text: repeats }], spinning: 'off' });
    expect(await ask().got).toMatchObject({ whole: true });
    expect(of('call.repeats_itself')).toEqual([]);
  });

  it('[R-13] is found in the letters of others', async () => {
    const { ask, of } = await startApiProxy({
      script: [{ text: '我会再看一遍这个文件，然后再试一次，直到它成功。'.repeat(200) }],
    });
    await ask().got;
    expect(of('call.repeats_itself')).toMatchObject([{ characters: 24 }]);
  });
});
