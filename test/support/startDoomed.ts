import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { fixture, isAlive } from '../actors/process/startProcess.ts';
import { temporaryDirectory } from './temporary.ts';

/** A gateway in a process of its own, with three children that outlive it. */
export async function startDoomed() {
  const store = join(temporaryDirectory(), 'gateway.sqlite');
  const words = [fixture('doomedGateway'), store, temporaryDirectory()];
  const host = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(host, 'exit');
  const [line] = (await once(createInterface(host.stdout), 'line')) as [string];
  const pids = JSON.parse(line) as number[];
  onTestFinished(() => {
    for (const left of [host.pid ?? 0, ...pids].filter(isAlive)) process.kill(left, 'SIGKILL');
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    host.kill(signal);
    await exited;
  };
  return { store, pids, end };
}
