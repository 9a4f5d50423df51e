import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call, databaseWith } from '../startCli.ts';

function serversIn(directory: string): string {
  const server = fileURLToPath(new URL('../../chaos/soak/toolServer.mjs', import.meta.url));
  const path = join(directory, 'servers.json');
  writeFileSync(path, JSON.stringify({ mcpServers: { tools: { command: process.execPath, args: [server] } } }));
  return path;
}

it.runIf(hasSqlite).each<[string, (directory: string) => readonly string[]]>([
  ['api', () => ['--upstream', 'http://127.0.0.1:1', '--port', '0']],
  ['serve', (directory) => ['--no-token', '--port', '0', '--drain', '1ms', '--servers', serversIn(directory)]],
  ['dashboard', () => ['--port', '0']],
])('[L-2] a service whose address nobody can read ends, and not as one that was told to: %s', async (verb, words) => {
  const directory = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', directory);
  const controller = new AbortController();
  const db = verb === 'dashboard' ? await databaseWith() : join(directory, 'kept.sqlite');
  const write = (): void => controller.abort(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  const options = { stdout: { write }, signal: controller.signal, env: { HOME: directory } };
  expect((await call([verb, ...words(directory), '--db', db], options)).code).toBe(141);
});
