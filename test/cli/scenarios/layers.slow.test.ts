import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { faultyModelApi } from '../../../testing/index.ts';
import { ask } from '../../proxy/api/startApiProxy.ts';
import { builtAcpAgent, rawAcpClient } from '../../support/acpWire.ts';
import { converseWith } from '../../support/wire.ts';
import { runBuilt } from '../startCli.ts';
import { makeHome, startMcp } from '../startMcp.ts';
import { main } from '../startRun.ts';

/** `unwedge api` as a process of its own, on the database of `env`, before a model that says half of a text and nothing more. */
async function startApi(env: NodeJS.ProcessEnv): Promise<string> {
  const model = await faultyModelApi([{ text: 'one two three four', until: 'text', then: 'pings' }]);
  const child = spawn(process.execPath, [main, 'api', '--upstream', model.url, '--name', 'model'], { env });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    await model.close();
  });
  let stdout = '';
  for await (const chunk of child.stdout) {
    stdout += String(chunk);
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0];
    if (found !== undefined) return found;
  }
  throw new Error('It does not listen');
}

it.runIf(process.platform === 'linux')(
  '[A-8] why prints the chain below a prompt: the stream of its conversation, the calls behind its agent, and of nobody else',
  async () => {
    const home = makeHome();
    const { env: given } = home;
    const env = { ...given } as Record<string, string>;
    const { command, args } = builtAcpAgent();
    const editor = converseWith(process.execPath, [main, 'acp', '--name', 'faulty', '--', command, ...args], env);
    const client = rawAcpClient(editor.child);
    const session = await client.open();
    const origin = await startApi(env);
    client.prompt(1, 'say hello; think 600', session);
    await client.until(({ method }) => method === 'session/update');
    const why = async () => {
      const { stdout } = await runBuilt(['why', 'faulty', '--json'], env);
      return JSON.parse(stdout || '{}') as { calls?: { target: { process: { pid: number } }; behind: unknown }[] };
    };
    await expect.poll(async () => (await why()).calls?.length).toBe(1);
    const [call] = (await why()).calls ?? [];
    expect(call?.behind).toEqual([]);

    // As agents start their servers: in their own environment.
    const environ = readFileSync(`/proc/${call?.target.process.pid}/environ`, 'utf8').split('\0');
    const mark = environ.find((each) => each.startsWith('UNWEDGE_RUN='))?.slice('UNWEDGE_RUN='.length);
    const behind = startMcp({ ...home, env: { ...given, UNWEDGE_RUN: mark } }, ['--name', 'files']);
    const other = startMcp(home, ['--name', 'strange']);
    for (const mcp of [behind, other]) {
      await mcp.open();
      void mcp.call({ do: 'hang' });
    }
    for (const id of [session, 'of-another-conversation']) {
      const asked = ask(origin, { headers: { 'x-claude-code-session-id': id } });
      await asked.saw('one');
      asked.got.catch(() => undefined);
    }

    await expect.poll(async () => (await runBuilt(['why', 'faulty'], env)).stdout).toContain('unwedge mcp files');
    const { stdout } = await runBuilt(['why', 'faulty'], env);
    expect(stdout).toMatch(/^ {4}the model thinks, last word \S+ ago$/m);
    expect(stdout).toMatch(/^ {4}behind it: unwedge mcp files: act for \S+, limit in .+$/m);
    expect(stdout).toMatch(/^ {4}behind it: unwedge api model: .+, the model's content came \S+ ago, limit in .+$/m);
    expect(stdout.match(/behind it/g)).toHaveLength(2);
    expect(stdout).not.toContain('strange');
    editor.child.stdin.end();
  },
);
