import { describe, expect, it } from 'vitest';
import { PromiseListeners } from '../../src/calls/promiseListeners.ts';

interface Named {
  readonly name: string;
}

interface Heard {
  readonly attempt: unknown;
  readonly value: unknown;
}

function start() {
  const heard: Heard[] = [];
  const listeners = new PromiseListeners<Named, string>({
    answered: (attempt, value) => heard.push({ attempt, value }),
    threw: (attempt, value) => heard.push({ attempt, value }),
  });
  return { listeners, heard };
}

// Who listens never looks into it.
const attempt = (name: string): Named => ({ name });

describe('what listens to the work of attempts', () => {
  it('[I-1] hears each of many that answer in turn and at once, for its own attempt', async () => {
    const { listeners, heard } = start();
    const rounds = 3;
    for (let round = 0; round < rounds; round++) {
      for (let index = 0; index < 100; index++) {
        const value = `${round} ${index}`;
        listeners.listen(index % 2 === 0 ? Promise.resolve(value) : Promise.reject(value), attempt(value));
      }
      await Promise.resolve();
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(heard).toHaveLength(100 * rounds);
    for (const { attempt: of, value } of heard) expect(of).toEqual({ name: value });
  });

  it('[I-1] lets a promise that calls back twice say nothing for the attempt that comes after', async () => {
    const { listeners, heard } = start();
    const then = (done: (value: string) => void): void => {
      done('first');
      listeners.listen(new Promise(() => undefined), attempt('next'));
      done('again');
    };
    listeners.listen(Object.assign(Promise.resolve('odd'), { then }) as Promise<string>, attempt('odd'));
    expect(heard.map(({ attempt: of }) => of)).not.toContainEqual({ name: 'next' });
  });

  it('[I-1] asks a promise for its `then` once, and takes it for no other: one that changes says nothing for the attempt after', () => {
    const { listeners, heard } = start();
    const own = (done: (value: string) => void): void => {
      done('first');
      listeners.listen(new Promise(() => undefined), attempt('next'));
      done('again');
    };
    let asked = 0;
    const odd = Object.defineProperty(Promise.resolve('odd'), 'then', {
      get: () => (asked++ === 0 ? Reflect.get(Promise.prototype, 'then') : own) as unknown,
    });
    listeners.listen(odd, attempt('odd'));
    expect(heard.map(({ attempt: of }) => of)).not.toContainEqual({ name: 'next' });
  });
});
