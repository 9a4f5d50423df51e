import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import { readOpenClawConfig } from '../../src/config/openclawConfig.ts';
import { temporaryDirectory } from '../support/temporary.ts';

function write(text: string): string {
  const path = join(temporaryDirectory(), 'openclaw.json');
  writeFileSync(path, text);
  return path;
}

describe('openclaw.json', () => {
  it('[G-10] says how tool calls are tried again, comments and all', async () => {
    const path = write(`{
      // ours
      gateway: { port: 18789, toolCallRetry: { maxAttempts: 2, backoffMs: [1], transientPatterns: ['warming up'], }, },
    }`);
    const options = await readOpenClawConfig(path);
    expect(options).toEqual({
      toolCallRetry: { maxAttempts: 2, backoffMs: [1], transientPatterns: ['warming up'] },
    });
    const gateway = createGateway(options);
    onTestFinished(() => gateway.stop());
    let calls = 0;
    gateway.integration('kb', {}, () => {
      calls++;
      throw new Error('the model is warming up');
    });
    const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('kb', 'query') });
    await gateway.start();
    const acceptance = await session.send({ kind: 'user' });
    const outcome = acceptance.accepted ? await acceptance.processed : undefined;
    expect([calls, outcome]).toMatchObject([2, { value: { status: 'error', retries: 1 } }]);
  });

  it('[G-10] is refused when it gives a key of ours twice, with both places; what else it gives twice is its own', async () => {
    const twice = write('{ gateway: { toolCallRetry: { maxAttempts: 2,\n maxAttempts: 3 } } }');
    await expect(readOpenClawConfig(twice)).rejects.toThrow(
      new SyntaxError(`${twice}: gateway.toolCallRetry.maxAttempts is given at 1:31 and again at 2:2`),
    );
    const others = write('{ a: 1, a: 2, gateway: { port: 1, port: 2, toolCallRetry: { maxAttempts: 2 } } }');
    expect(await readOpenClawConfig(others)).toEqual({ toolCallRetry: { maxAttempts: 2 } });
  });

  it('[G-10] may hold a regular expression, however it is nested: what an upstream says cannot stop the process', async () => {
    const path = write(
      `{ gateway: { toolCallRetry: { backoffMs: [1], transientPatterns: ['/(a+)+$/', '/model .*loading/i'] } } }`,
    );
    const gateway = createGateway(await readOpenClawConfig(path));
    onTestFinished(() => gateway.stop());
    const said = ['a'.repeat(100_000) + '!', 'The MODEL is loading', 'done'];
    gateway.integration('kb', {}, ({ input }: { input: unknown }) => {
      if (said[Number(input)] === 'done') return 'done';
      throw new Error(said[Number(input)]);
    });
    const session = gateway.session('agent:main', {
      onMessage: async (_message, turn) => [await turn.tool('kb', 'query', 0), await turn.tool('kb', 'query', 1)],
    });
    await gateway.start();
    const acceptance = await session.send({ kind: 'user' });
    const outcome = acceptance.accepted ? await acceptance.processed : undefined;
    expect(outcome).toMatchObject({
      value: [
        { status: 'error', retries: 0 },
        { status: 'error', retries: 2 },
      ],
    });
  });

  it.each([
    ['the source of a regular expression', 'weird \\\\(9[0-9]\\\\)', 'Weird (95) answer', 3],
    ['text with parentheses', 'gateway shut (1099)', 'Gateway shut (1099)', 3],
    ['text that is no expression', 'odd (thing', 'an odd (thing', 3],
    ['an expression that is none', '/odd(?=x)/', 'an /odd(?=x)/ thing', 3],
    ['a sample that omits the kinds that are built in', 'warming', 'gateway closed (1012)', 3],
    ['text of which an error says what is permanent', 'not .* here', 'HTTP 404: not at all here', 1],
    ['text of another error', 'weird \\\\(9[0-9]\\\\)', 'weird (85)', 1],
  ])('[G-10] has patterns that match as text or as an expression: %s', async (_, pattern, message, attempts) => {
    const warnings: string[] = [];
    const path = write(`{ gateway: { toolCallRetry: { backoffMs: [1], transientPatterns: ['${pattern}'] } } }`);
    const gateway = createGateway(await readOpenClawConfig(path, (warning) => warnings.push(warning)));
    onTestFinished(() => gateway.stop());
    let calls = 0;
    gateway.integration('kb', {}, () => {
      calls++;
      throw new Error(message);
    });
    const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('kb', 'query') });
    await gateway.start();
    const acceptance = await session.send({ kind: 'user' });
    if (acceptance.accepted) await acceptance.processed;
    expect(calls).toBe(attempts);
    const told = warnings.map((warning) =>
      /toolCallRetry\.transientPatterns\[0\].*; it is looked for as text$/.test(warning),
    );
    expect(told).toEqual(pattern.includes('odd') ? [true] : []);
  });

  it('[G-10] warns by the process where nobody else listens', async () => {
    const warned = once(process, 'warning') as Promise<[Error]>;
    await readOpenClawConfig(write(`{ gateway: { toolCallRetry: { transientPatterns: ['a('] } } }`));
    expect((await warned)[0].message).toContain('it is looked for as text');
  });

  it('[G-10] makes one attempt when it switches retries off, and the session goes on', async () => {
    const gateway = createGateway(
      await readOpenClawConfig(write('{ gateway: { toolCallRetry: { enabled: false } } }')),
    );
    onTestFinished(() => gateway.stop());
    let calls = 0;
    gateway.integration('kb', {}, () => {
      calls++;
      throw new Error('gateway closed (1012)');
    });
    const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('kb', 'query') });
    await gateway.start();
    for (let message = 1; message <= 2; message++) {
      const acceptance = await session.send({ kind: 'user' });
      if (acceptance.accepted) await acceptance.processed;
      expect(calls).toBe(message);
    }
  });

  it.each([['{}'], ['{ gateway: {} }'], ['{ gateway: { port: 1 } }']])('may say nothing: %s', async (text) => {
    expect(await readOpenClawConfig(write(text))).toEqual({});
  });

  it('may be missing', async () => {
    expect(await readOpenClawConfig(join(temporaryDirectory(), 'openclaw.json'))).toEqual({});
  });

  it.each([
    ['{ gateway: ', SyntaxError, 'invalid end of input'],
    ['[]', TypeError, 'config'],
    ['{ gateway: 5 }', TypeError, 'gateway'],
    ['{ gateway: { toolCallRetry: { maxAttempts: 0 } } }', RangeError, 'toolCallRetry.maxAttempts'],
    ['{ gateway: { toolCallRetry: { attempts: 3 } } }', RangeError, 'toolCallRetry.attempts'],
    ['{ gateway: { toolCallRetry: 5 } }', TypeError, 'toolCallRetry'],
    ['{ gateway: { toolCallRetry: { transientPatterns: "a" } } }', TypeError, 'toolCallRetry.transientPatterns'],
    [
      '{ gateway: { toolCallRetry: { transientPatterns: ["a", 5] } } }',
      TypeError,
      'toolCallRetry.transientPatterns[1]',
    ],
  ])('is refused with the name of the file and the option: %s', async (text, kind, words) => {
    const path = write(text);
    const error: unknown = await readOpenClawConfig(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect((error as Error).message).toContain(`${path}: `);
    expect((error as Error).message).toContain(words);
  });

  it('cannot be a directory', async () => {
    const path = join(temporaryDirectory(), 'openclaw.json');
    mkdirSync(path);
    await expect(readOpenClawConfig(path)).rejects.toThrow('EISDIR');
  });
});
