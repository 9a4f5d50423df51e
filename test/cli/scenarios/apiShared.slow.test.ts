import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyModelApi } from '../../../testing/index.ts';
import { ask } from '../../proxy/api/startApiProxy.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { runBuilt } from '../startCli.ts';
import { makeHome } from '../startMcp.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** A proxy as a process of its own. @returns where it listens. */
async function startProxy(upstream: string, env: NodeJS.ProcessEnv): Promise<string> {
  const words = ['api', '--upstream', upstream, '--name', 'model', '--budget', '2s'];
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let told = '';
  for await (const chunk of child.stdout) {
    told += String(chunk);
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(told)?.[0];
    if (origin !== undefined) return origin;
  }
  throw new Error(`the proxy ended: ${told}`);
}

describe.skipIf(!hasSqlite)('processes of unwedge api on one database', () => {
  it('[E-7] hold back a key that the API has told one of them to wait with', async () => {
    const limited = { do: 'refuse', status: 429, headers: { 'retry-after': '3600' } } as const;
    const model = await faultyModelApi([{}, limited, {}]);
    onTestFinished(() => model.close());
    const { env } = makeHome();
    const [first, second] = [await startProxy(model.url, env), await startProxy(model.url, env)];
    const status = async (origin: string): Promise<number> => (await ask(origin).got).status;
    expect(await status(second)).toBe(200);
    expect(await status(first)).toBe(429);
    const events = async (): Promise<string> => (await runBuilt(['events'], env as Record<string, string>)).stdout;
    await expect.poll(events, { timeout: 20_000, interval: 200 }).toContain('adopted');
    expect(await status(second)).toBe(429);
    // It knows from its first request of that key on.
    const third = await startProxy(model.url, env);
    expect(await status(third)).toBe(429);
    expect(model.requests).toHaveLength(2);
  });
});
