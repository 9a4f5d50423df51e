import { spawn } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { descendants, listProcesses, terminateTree, tryStart } from '../../src/actors/process/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { lastLine } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import type { CheckedAgent } from './acpTalk.ts';

/** An agent or a server as a process; `lastError` is the last line of its stderr, empty when there is none. */
export type StartedAgent = CheckedAgent & { lastError(): string };
type Where = { readonly env?: NodeJS.ProcessEnv | undefined; readonly cwd: string; readonly clock: Clock };

/** Starts it. Never throws: one that cannot be started has exited, with why. */
export function startAgent([command = '', ...args]: readonly string[], { env, cwd, clock }: Where): StartedAgent {
  const started = tryStart(() => spawn(command, args, { env, cwd, stdio: 'pipe' }));
  if (started.child === undefined) return neverStarted(started.error.then(messageOf));
  const { child, pid } = started;
  const exited = new Promise<string>((resolve) => {
    child.on('exit', (code, signal) => resolve(signal === null ? `exit ${String(code)}` : `died of ${signal}`));
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-10_000)));
  const { stdin, stdout } = child;
  let family: Awaited<ReturnType<typeof listProcesses>> = [];
  return {
    ...{ stdin, stdout, exited },
    lastError: () => lastLine(errors) ?? '',
    async family() {
      const pids = await descendants(pid);
      family = (await listProcesses()).filter((each) => pids.includes(each.pid));
      return pids;
    },
    async kill() {
      await terminateTree(pid, { clock, exited, graceMs: 500 });
      // Once it has gone nothing leads to what it left behind.
      await Promise.all(family.map((one) => terminateTree(one.pid, { clock, startTime: one.startTime, graceMs: 0 })));
    },
  };
}

function neverStarted(exited: Promise<string>): StartedAgent {
  const none = (): Promise<readonly number[]> => Promise.resolve([]);
  const [stdin, stdout] = [new PassThrough(), Readable.from([])];
  return { stdin, stdout, exited, lastError: () => '', family: none, kill: () => Promise.resolve() };
}
