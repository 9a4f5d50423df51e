import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyModelApi, type ModelAnswer } from '../../testing/index.ts';

async function start(...script: readonly ModelAnswer[]) {
  const api = await faultyModelApi(script);
  onTestFinished(() => api.close());
  const ask = (path = '/v1/messages', body: object = { stream: true }) =>
    fetch(`${api.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return { api, ask };
}

/** What can be read of a body, and whether it ended in good order. */
async function read(response: Response): Promise<{ text: string; whole: boolean }> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
    return { text, whole: true };
  } catch {
    return { text, whole: false };
  }
}

describe('the faulty model API', () => {
  it.each([
    ['/v1/messages', 'event: message_stop'],
    ['/v1/responses', 'event: response.completed'],
    ['/v1/chat/completions', 'data: [DONE]'],
  ])('[U-5] [E-7] streams a whole answer at %s', async (path, last) => {
    const { ask } = await start({ text: 'good', tool: { name: 'Bash', input: { command: 'date' } } });
    const { text, whole } = await read(await ask(path));
    expect(whole).toBe(true);
    expect(text).toContain('good');
    expect(text).toContain('Bash');
    expect(text.trimEnd()).toContain(last);
  });

  it.each(['reset', 'close'] as const)(
    '[U-5] [E-7] cuts an answer by %s, in an event and within a character',
    async (then) => {
      const { ask } = await start({ until: 'event', then });
      const { text, whole } = await read(await ask());
      expect(whole).toBe(false);
      expect(text).toMatch(/data: [^\n]*$/);
    },
  );

  it('[U-5] [E-7] says no so often, then answers, and has counted and hashed the requests', async () => {
    const { api, ask } = await start({ do: 'refuse', status: 429, headers: { 'retry-after': '2' }, times: 2 }, {});
    const answers = [await ask(), await ask(), await ask()];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 200]);
    expect(answers[0]?.headers.get('retry-after')).toBe('2');
    expect(await answers[0]?.json()).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'rate_limit_error' },
    });
    await answers[2]?.text();
    expect(new Set(api.requests.map(({ hash }) => hash)).size).toBe(1);
  });

  it('[U-5] [E-7] stalls, and tells of the clients that left', async () => {
    const { api } = await start({ until: 'text', then: 'stall' });
    const controller = new AbortController();
    const asked = fetch(`${api.url}/v1/messages`, {
      method: 'POST',
      body: '{"stream":true}',
      signal: controller.signal,
    });
    await api.reached(1);
    expect((await asked).status).toBe(200);
    controller.abort();
    await api.aborted(1);
    expect(api.requests[0]?.aborted).toBe(true);
  });

  it('[U-5] names the option that is wrong', async () => {
    await expect(faultyModelApi([{ until: 'later' } as never])).rejects.toThrow(/`script\[0\]\.until`/);
    await expect(faultyModelApi([])).rejects.toThrow(/at least one/);
  });
});
