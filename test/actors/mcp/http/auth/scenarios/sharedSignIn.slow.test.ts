import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGuarded } from '../signedIn.ts';

const program = fileURLToPath(new URL('../../../../../fixtures/mcpTokens.mjs', import.meta.url));

async function startProcess(url: string, directory: string) {
  const child = execa(process.execPath, [program, url, directory], { reject: false, stderr: 'inherit' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await child;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  expect(await next()).toBe('ready');
  return {
    request(): Promise<string> {
      child.stdin.write('\n');
      return next();
    },
    kill: () => child.kill('SIGKILL'),
    ended: child,
  };
}

describe('processes that share a sign-in', () => {
  it('[P-4] ask for one token together, and none is lost', async () => {
    const { server, directory, giver, signIn } = await startGuarded();
    await signIn();
    giver.tokenRequests.length = 0;
    giver.expireAll();
    giver.faults.push('hold');
    const processes = await Promise.all([startProcess(server.url, directory), startProcess(server.url, directory)]);
    const requests = Promise.all(processes.map((each) => each.request()));
    await server.until(() => server.requests('initialize') === 2);
    await giver.until(() => giver.tokenRequests.length === 1);
    giver.release();
    expect(await requests).toEqual(['200', '200']);
    expect(giver.tokenRequests).toHaveLength(1);
    expect(await Promise.all(processes.map((each) => each.request()))).toEqual(['200', '200']);
    expect(giver.tokenRequests).toHaveLength(1);
  });

  it('[P-4] go on when one of them is killed while it asks', async () => {
    const { server, directory, giver, signIn } = await startGuarded();
    await signIn();
    giver.tokenRequests.length = 0;
    giver.expireAll();
    giver.faults.push('no_headers');
    const [first, second] = await Promise.all([
      startProcess(server.url, directory),
      startProcess(server.url, directory),
    ]);
    void first.request();
    await giver.until(() => giver.tokenRequests.length === 1);
    first.kill();
    await first.ended;
    expect(await second.request()).toBe('200');
    expect(giver.tokenRequests).toHaveLength(2);
  });
});
