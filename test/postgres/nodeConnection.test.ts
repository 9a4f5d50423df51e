import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { NodeConnection } from '../../postgres/nodeConnection.ts';
import { inSchema, readTarget } from '../../postgres/pgTarget.ts';
import { presenceKey } from '../../postgres/leaseStatements.ts';
import { importPg } from '../../postgres/pgDriver.ts';
import { connectTo, hasPostgres } from '../support/postgresServer.ts';
import { startNodes } from './startNodes.ts';

describe.skipIf(!hasPostgres)('the connection of a node', () => {
  it('[N-4] holds the presence of its runtimes for as long as it is there', async () => {
    const { start, locks } = await startNodes();
    const { node } = start();
    node.present('a');
    node.present('b');
    await expect.poll(() => [node.isPresent('a'), node.isPresent('b')]).toEqual([true, true]);
    expect([await locks('a'), await locks('b'), await locks('c')]).toEqual([1, 1, 0]);
    node.absent('a');
    await expect.poll(() => locks('a')).toBe(0);
    expect(node.isPresent('a')).toBe(false);
    await node.close();
    expect(node.isPresent('b')).toBe(false);
    await expect.poll(() => locks('b')).toBe(0);
  });

  it('[N-3] tells other nodes, and not itself, what was told within 5 ms together', async () => {
    const { start } = await startNodes();
    const [one, two] = [start(), start()];
    await expect.poll(() => [one.heard, two.heard]).toEqual([[undefined], [undefined]]);
    for (const hint of ['mail a', 'mail b', 'mail a']) one.node.notify(hint);
    await expect.poll(() => two.heard).toEqual([undefined, 'mail a', 'mail b']);
    one.node.notify('x'.repeat(9_000));
    await expect.poll(() => two.heard.at(-1)).toBeUndefined();
    expect(one.heard).toEqual([undefined]);
  });

  it('[N-3] [N-4] is made again when it is cut: presence, hints, and a word that some may have been missed', async () => {
    const { start, proxy, locks } = await startNodes();
    const [one, two] = [start(), start()];
    const lost: boolean[] = [];
    one.node.onLost(() => lost.push(one.node.isPresent('a')));
    one.node.present('a');
    await expect.poll(() => one.node.isPresent('a') && two.heard.length).toBe(1);
    proxy.sever();
    await expect.poll(() => lost).toEqual([false]);
    one.node.notify('while it was away');
    await expect.poll(() => [one.node.isPresent('a'), one.heard]).toEqual([true, [undefined, undefined]]);
    expect(await locks('a')).toBe(1);
    await expect.poll(() => two.heard.length).toBeGreaterThan(1);
    one.node.notify('after it');
    await expect.poll(() => two.heard.at(-1)).toBe('after it');
  });

  it('[N-4] has its presence again at once, though the server has not noticed the end of the last one', async () => {
    const { start, url, schema } = await startNodes();
    const last = await connectTo(url);
    onTestFinished(() => last.end());
    await last.query(`SELECT pg_advisory_lock_shared(${inSchema(presenceKey('$1'), schema)})`, ['a']);
    const { node } = start();
    node.present('a');
    await expect.poll(() => node.isPresent('a')).toBe(true);
  });

  it('[N-1] waits longer from try to try while there is no server, and ends at once all the same', async () => {
    const pg = await importPg('test');
    const waits: number[] = [];
    const clock = Object.assign(Object.create(systemClock) as typeof systemClock, {
      setTimeout(callback: () => void, delayMs: number) {
        waits.push(delayMs);
        return systemClock.setTimeout(callback, 0);
      },
    });
    const target = readTarget('postgres://postgres@127.0.0.1:1/none');
    const node = new NodeConnection(pg, target, { clock, random: () => 0.5, logger: undefined });
    node.present('a');
    await expect.poll(() => waits.length).toBeGreaterThan(8);
    await node.close();
    expect(waits.slice(0, 8)).toEqual([75, 150, 300, 600, 1_200, 2_400, 3_750, 3_750]);
  });

  it('[N-7] ends within half a second when the server does not answer', async () => {
    const { start, proxy } = await startNodes();
    const { node } = start();
    node.present('a');
    await expect.poll(() => node.isPresent('a')).toBe(true);
    proxy.hold('both');
    node.notify('released');
    const at = performance.now();
    await node.close();
    expect(performance.now() - at).toBeLessThan(3_000);
    proxy.pass();
  });

  it('[N-7] tells what there is to tell before it ends', async () => {
    const { start } = await startNodes();
    const [one, two] = [start(), start()];
    await expect.poll(() => [one.heard, two.heard]).toEqual([[undefined], [undefined]]);
    one.node.notify('released');
    await one.node.close();
    await expect.poll(() => two.heard.at(-1)).toBe('released');
  });

  it('[N-1] is not made where the URL says that there is no way', async () => {
    const { start, lines } = await startNodes();
    const { node } = start('&direct=false');
    node.present('a');
    node.notify('hint');
    await node.close();
    expect([node.isPresent('a'), lines]).toEqual([false, []]);
  });

  it('[N-1] leaves no lock on a connection of a pooler, and says what to do', async () => {
    const { start, lines, locks, port } = await startNodes();
    const pooler = await startPooler(port);
    const { node } = start(`&direct=127.0.0.1:${pooler}`);
    node.present('a');
    await expect.poll(() => lines).toEqual([expect.stringContaining('is a pooler')]);
    expect([node.isPresent('a'), await locks('a')]).toEqual([false, 0]);
  });
});

/** Passes everything but who serves the connection: a pooler makes that up. @returns its port. */
async function startPooler(serverPort: number): Promise<number> {
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(upstream);
    upstream.on('data', (data) => {
      // BackendKeyData: 'K', its length, the process.
      const at = data.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
      if (at >= 0) data.writeInt32BE(7, at + 5);
      client.write(data);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
