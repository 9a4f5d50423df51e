import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeStaleSockets } from '../../src/control/staleSockets.ts';
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

  it('are none in a directory that is not there', async () => {
    await expect(removeStaleSockets('/nonexistent')).resolves.toBeUndefined();
  });
});
