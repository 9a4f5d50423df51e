import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identify, seeNow, seeWorld } from '../../src/actors/process/processIdentity.ts';
import type { Question } from '../../src/policy/records/question.ts';
import { asTheyStand, goneOf, newWaiter } from '../../src/store/askers.ts';

const asked = (waiter: string): Question => ({
  ...{ id: 'q1', place: '', waiter, source: 'hook', asker: 'guard', what: 'Deploy?' },
  ...{ form: { is: 'decision' }, state: 'open', askedAt: 0, deadlineAt: 900_000 },
});
const stateOf = async (waiter: string): Promise<string | undefined> => (await asTheyStand([asked(waiter)]))[0]?.state;

/** A process that lives until the test ends it, as a waiter has it. */
async function startAsker() {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const own = child.pid ?? 0;
  const { pid, start } = identify(seeNow([own]) ?? (await seeWorld()), own);
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { waiter: (host = hostname()) => JSON.stringify(['w1', host, pid, start]), end };
}

describe('a process that asks', () => {
  it('[G-17] has its question withdrawn once it is gone', async () => {
    const { waiter, end } = await startAsker();
    expect(await stateOf(waiter())).toBe('open');
    expect(await goneOf([waiter()])).toEqual([]);
    await end();
    expect(await stateOf(waiter())).toBe('withdrawn');
    expect(await goneOf([waiter()])).toEqual([waiter()]);
  });

  it('[G-17] of another machine is not said to be gone', async () => {
    const { waiter, end } = await startAsker();
    await end();
    expect(await stateOf(waiter('elsewhere'))).toBe('open');
    expect(await goneOf([waiter('elsewhere')])).toEqual([]);
  });

  it('[G-17] is this one while it lives; who asks again has no process', async () => {
    expect(await stateOf(await newWaiter(false))).toBe('open');
    expect(await stateOf(await newWaiter(true))).toBe('open');
  });

  it.each(['', 'w1', '[]', '{}', '["w1"]', '["w1",3,4,5]', '[1,"host",2,"start"]'])(
    '[G-17] is none in what has another form: %s',
    async (waiter) => {
      expect(await stateOf(waiter)).toBe('open');
      expect(await goneOf([waiter])).toEqual([]);
    },
  );
});
