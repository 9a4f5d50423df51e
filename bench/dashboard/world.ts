import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inNewHome, unwedge } from '../cli/processes.ts';

/** What the processes have used of the CPU so far, in ms. */
export interface Used {
  readonly gatewayMs: number;
  readonly serverMs: number;
}

/** A gateway with its sessions and events, and the server of its dashboard, each in a process of its own. */
export interface World {
  /** Of the page; good for one browser. */
  readonly url: string;
  used(): Promise<Used>;
  /** Events that the gateway was to record so far. */
  told(): Promise<number>;
}

const program = fileURLToPath(new URL('./gateway.js', import.meta.url));

export async function inWorld(
  sessions: number,
  eventsPerSecond: number,
  work: (world: World) => Promise<void>,
): Promise<void> {
  await inNewHome(async (env) => {
    const path = join(env['HOME'] ?? '', 'gateway.sqlite');
    const ownEnv = { ...env, XDG_RUNTIME_DIR: env['HOME'] };
    const gateway = fork(program, [path, String(sessions), String(eventsPerSecond)], { env: ownEnv, execArgv: [] });
    try {
      await once(gateway, 'message');
      const [node, ...words] = unwedge('dashboard', '--db', path, '--json');
      const server = spawn(node, words, { env: ownEnv, stdio: ['ignore', 'pipe', 'ignore'] });
      try {
        const gone = once(server, 'exit').then(() => Promise.reject(new Error('The dashboard did not come up')));
        gone.catch(() => undefined);
        const [line] = (await Promise.race([once(server.stdout, 'data'), gone])) as [Buffer];
        const { url } = JSON.parse(line.toString('utf8')) as { readonly url: string };
        await work({
          url,
          async used() {
            const { cpuUs } = await askGateway(gateway);
            return { gatewayMs: cpuUs / 1000, serverMs: cpuMsOf(server.pid ?? 0) };
          },
          told: async () => (await askGateway(gateway)).told,
        });
      } finally {
        server.kill('SIGKILL');
      }
    } finally {
      gateway.kill('SIGKILL');
    }
  });
}

async function askGateway(gateway: ChildProcess): Promise<{ readonly cpuUs: number; readonly told: number }> {
  const answered = once(gateway, 'message');
  gateway.send('used');
  const [answer] = (await answered) as [{ readonly cpuUs: number; readonly told: number }];
  return answer;
}

/** Linux counts the time of a process in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const after = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(after[11]) + Number(after[12])) * 10;
}
