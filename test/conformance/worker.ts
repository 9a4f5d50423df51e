import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const path = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** A stdio server that a worker gives an address. */
export interface Bridged {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface Judgement {
  /** Words of the suite's command line. */
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly bridge?: Bridged | undefined;
}

interface Worker {
  readonly suite: string;
  readonly child: ChildProcess;
  runs: number;
}

/** Runs of one worker; each leaves a module behind. */
const mostRuns = 100;

const idle: Worker[] = [];

/**
 * Has the suite judge a server, in a process that it had started for one before where there is such: a start takes it longer than a scenario.
 * @param suite - its entry.
 * @returns everything that it printed.
 */
export async function judgeInWorker(suite: string, judgement: Judgement, signal?: AbortSignal): Promise<string> {
  const at = idle.findIndex((each) => each.suite === suite);
  const worker = at < 0 ? started(suite) : (idle.splice(at, 1)[0] ?? started(suite));
  const { child } = worker;
  const listening = new AbortController();
  const end = (): void => void child.kill('SIGKILL');
  signal?.addEventListener('abort', end);
  if (signal?.aborted === true) end();
  try {
    child.send(judgement);
    const { signal: heard } = listening;
    const gone = once(child, 'exit', { signal: heard }).then(() => undefined);
    const told = once(child, 'message', { signal: heard });
    const answer: readonly unknown[] | undefined = await Promise.race([told, gone]);
    if (answer === undefined) return 'It was ended.';
    if (++worker.runs < mostRuns) idle.push(worker);
    else child.disconnect();
    return (answer[0] as { readonly printed: string }).printed;
  } finally {
    listening.abort();
    signal?.removeEventListener('abort', end);
  }
}

/** Ends those that wait for work. */
export function endWorkers(): void {
  for (const { child } of idle.splice(0)) child.disconnect();
}

function started(suite: string): Worker {
  const { PATH } = process.env;
  const child = fork(path('conformanceWorker.mjs'), [suite], {
    execArgv: ['--import', path('conformanceSuite.mjs')],
    env: { PATH },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.on('error', () => undefined);
  return { suite, child, runs: 0 };
}
