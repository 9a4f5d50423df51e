import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { removeStaleSockets } from '../../src/control/staleSockets.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { connect, request, startControl } from './startControl.ts';

async function leaveSocket(path: string): Promise<void> {
  const listens = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('listening'))`;
  const child = spawn(process.execPath, ['-e', listens], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('sockets that nobody listens on', () => {
  it('[L-5] are removed, and nothing else', async () => {
    const { path } = await startControl();
    const directory = dirname(path);
    writeFileSync(join(directory, 'file.sock'), '');
    await leaveSocket(join(directory, 'dead.sock'));
    expect(readdirSync(directory).sort()).toEqual(['dead.sock', 'file.sock', 'one.sock']);
    await removeStaleSockets(directory);
    expect(readdirSync(directory).sort()).toEqual(['file.sock', 'one.sock']);
    const client = await connect(path);
    client.send(request(1, 'echo'));
    expect(await client.next()).toMatchObject({ id: 1 });
  });

  // Elsewhere a full backlog is told like a deserted socket.
  it.runIf(process.platform === 'linux')(
    '[L-5] are not those of a runtime that is too busy to answer anybody',
    async () => {
      const path = join(temporaryDirectory(), 'busy.sock');
      // Its event loop stands still, and the system takes no more clients for it.
      const busy = `const net = require('node:net'), fs = require('node:fs');
      net.createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => {
        fs.writeSync(1, 'listening');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      })`;
      const child = spawn(process.execPath, ['-e', busy], { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      let refused = '';
      while (refused === '') {
        const client = createConnection(path);
        onTestFinished(() => void client.destroy());
        refused = await new Promise<string>((resolve) => {
          client.once('connect', () => resolve(''));
          client.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
        });
      }
      await removeStaleSockets(dirname(path));
      expect(existsSync(path)).toBe(true);
    },
  );

  it('are none in a directory that is not there', async () => {
    await expect(removeStaleSockets('/nonexistent')).resolves.toBeUndefined();
  });
});
