import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { identify, judge, type ProcessWorld, seeNow, seeWorld } from '../actors/process/processIdentity.ts';
import type { Question } from '../policy/records/question.ts';
import { fromJson } from '../policy/text/storedJson.ts';

/** Process that waits for a question which ends with it: by another host nothing can be said of it. */
type Asker = readonly [waiter: string, host: string, pid: number, start: string];

/** Names who waits for a question. @param lasts - somebody asks it again where this process ends. */
export async function newWaiter(lasts: boolean): Promise<string> {
  const id = randomUUID();
  if (lasts) return id;
  const { pid, start } = identify(await see([process.pid]), process.pid);
  return JSON.stringify([id, hostname(), pid, start] satisfies Asker);
}

/** Reads questions as they stand: one that ended with its process, which is gone, is withdrawn. Never rejects. */
export async function asTheyStand(questions: readonly Question[]): Promise<readonly Question[]> {
  const askers = questions.map(({ state, waiter }) => (state === 'open' ? askerIn(waiter) : undefined));
  const pids = askers.flatMap((asker) => (asker === undefined ? [] : [asker[2]]));
  if (pids.length === 0) return questions;
  const world = await see(pids);
  return questions.map((question, index) => {
    const [, host, pid, start] = askers[index] ?? [];
    const isGone = host === hostname() && judge(world, { pid: pid ?? 0, start: start ?? '' }) === 'dead';
    return isGone ? { ...question, state: 'withdrawn' } : question;
  });
}

/** Names waiters whose process is gone. Never rejects. */
export async function goneOf(waiters: readonly string[]): Promise<readonly string[]> {
  const world = await see(waiters.flatMap((waiter) => askerIn(waiter)?.[2] ?? []));
  return waiters.filter((waiter) => {
    const [, host, pid = 0, start = ''] = askerIn(waiter) ?? [];
    return host === hostname() && judge(world, { pid, start }) === 'dead';
  });
}

const see = async (pids: readonly number[]): Promise<ProcessWorld> => seeNow(pids) ?? (await seeWorld());

function askerIn(waiter: string): Asker | undefined {
  const value = fromJson(waiter)?.value;
  if (!Array.isArray(value)) return undefined;
  const [id, host, pid, start] = value as readonly unknown[];
  const isOne = typeof id === 'string' && typeof host === 'string' && typeof start === 'string';
  return isOne && typeof pid === 'number' ? [id, host, pid, start] : undefined;
}
