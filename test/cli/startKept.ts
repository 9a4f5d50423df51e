import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';
import { type Ran, runHere } from './startCli.ts';

const program = fileURLToPath(new URL('../fixtures/keptGateway.mjs', import.meta.url));

export interface KeptGateway {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly run: (...words: string[]) => Promise<Ran>;
  /** Ends it as a crash would. */
  readonly kill: () => Promise<void>;
}

/** A gateway in a process of its own, whose session `agent:main` has one call under way and one message waiting. */
export async function startKept(): Promise<KeptGateway> {
  const home = temporaryDirectory();
  const db = join(home, 'gateway.sqlite');
  const env = { XDG_RUNTIME_DIR: home };
  const child = spawn(process.execPath, [program, db, 'control'], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  child.stdin.write('1\n2\n');
  const wanted = new Set(['calling 1', 'accepted 2 true']);
  for await (const line of createInterface({ input: child.stdout })) {
    wanted.delete(line);
    if (wanted.size === 0) break;
  }
  return { pid: child.pid ?? 0, child, run: (...words) => runHere([...words, '--db', db], env), kill };
}
