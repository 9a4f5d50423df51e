import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The MCP server of everything, as it is installed here. */
export const everything = {
  command: process.execPath,
  args: [
    fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url)),
  ],
};

/** A place of a gateway that is served: its configuration, database and token. */
export interface ServeHome {
  readonly directory: string;
  readonly config: string;
  readonly db: string;
  readonly tokenFile: string;
}

/** A gateway as a process of its own. */
export interface ServeProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly origin: string;
  readonly token: string;
  readonly stderr: () => string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/** @param config - what stands in its configuration. */
export function makeServeHome(config: object): ServeHome {
  const directory = temporaryDirectory();
  const home = {
    directory,
    config: join(directory, 'serve.json'),
    db: join(directory, 'gateway.sqlite'),
    tokenFile: join(directory, 'token'),
  };
  writeFileSync(home.config, JSON.stringify(config));
  return home;
}

/** Starts `unwedge serve` on a free port and waits until it says where it is. */
export function startServe(
  { directory, config, db, tokenFile }: ServeHome,
  env: NodeJS.ProcessEnv = {},
): Promise<ServeProcess> {
  const words = ['--config', config, '--db', db, '--listen', '127.0.0.1:0', '--token-file', tokenFile];
  return startServing(process.execPath, [main, 'serve', ...words], directory, env);
}

/** Starts a command that serves, and waits until it says where. */
export async function startServing(
  command: string,
  words: readonly string[],
  directory: string,
  more: NodeJS.ProcessEnv = {},
): Promise<ServeProcess> {
  const { PATH } = process.env;
  const env = { PATH, HOME: directory, TMPDIR: directory, XDG_RUNTIME_DIR: directory, ...more };
  const child = spawn(command, words, { cwd: directory, env });
  const exited = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let [stdout, stderr] = ['', ''];
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const said = new Promise<readonly [string, string]>((resolve) => {
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
      const [, origin = '', file = ''] = /^(http:\S+) serves [^]*^Token: in (.*)\n/m.exec(stdout) ?? [];
      if (origin !== '') resolve([origin, file]);
    });
  });
  const ended = exited.then(({ code }) => {
    throw new Error(`It ended with ${code} before it served: ${stderr}`);
  });
  const [origin, file] = await Promise.race([said, ended]);
  return { child, origin, token: readFileSync(resolve(directory, file), 'utf8').trim(), stderr: () => stderr, exited };
}
