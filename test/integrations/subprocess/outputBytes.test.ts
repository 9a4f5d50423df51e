import { describe, expect, it } from 'vitest';
import { OutputBytes } from '../../../src/integrations/subprocess/outputBytes.ts';
import { deferred, isSettled } from '../../support/deferred.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = ({ value }: IteratorResult<Uint8Array, undefined>): string => new TextDecoder().decode(value);

describe('the output of a run', () => {
  it('[R-13] holds its pipe until it is asked for', async () => {
    const output = new OutputBytes(() => undefined);
    const held = output.push(bytes('a'));
    expect(await isSettled(held as Promise<void>)).toBe(false);
    expect(textOf(await output.next())).toBe('a');
    await held;
    const next = output.next();
    expect(output.push(bytes('b'))).toBeUndefined();
    expect(textOf(await next)).toBe('b');
  });

  it('[R-13] ends as its run does, after the last bytes', async () => {
    const output = new OutputBytes(() => undefined);
    const run = deferred<void>();
    output.follow(run.promise);
    void output.push(bytes('a'));
    void output.push(bytes('b'));
    run.reject(new Error('exit 3'));
    expect(textOf(await output.next())).toBe('a');
    expect(textOf(await output.next())).toBe('b');
    await expect(output.next()).rejects.toThrow('exit 3');
    const waiting = new OutputBytes(() => undefined);
    const next = waiting.next();
    waiting.follow(Promise.resolve());
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('[R-13] [I-3] ends its run when nobody reads on, and waits for it', async () => {
    let end = (): void => undefined;
    const run = new Promise<void>((resolve) => {
      end = resolve;
    });
    const reasons: unknown[] = [];
    const output = new OutputBytes((reason) => reasons.push(reason));
    output.follow(run);
    const held = output.push(bytes('a'));
    const cancelled = output.cancel('enough');
    await held;
    expect(output.push(bytes('b'))).toBeUndefined();
    expect(reasons).toEqual(['enough']);
    expect(await isSettled(cancelled)).toBe(false);
    end();
    await cancelled;
  });
});
