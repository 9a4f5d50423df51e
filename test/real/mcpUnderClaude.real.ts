import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { fixture } from '../cli/startRun.ts';
import { processesWith } from '../cli/startHook.ts';
import { setup } from '../globalSetup.ts';
import { commandLine, installed, type Way, ways } from '../proxy/mcp/conformance/ways.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { hasClaude } from './claudeEnv.ts';
import { callsTool, type FakeRequest, type Reply, says } from './fakeAnthropic.ts';
import { startRealClaude } from './startRealClaude.ts';

const seconds = { timeout: 60_000 };
const busy = 'trigger-long-running-operation';
const long = (duration: number): Reply => callsTool(`mcp__ev__${busy}`, { duration, steps: 1 });
const echo = (message: string): Reply => callsTool('mcp__ev__echo', { message });

/** A turn of the real program with server-everything as its only MCP server. */
async function startTurn(way: Way, script: readonly Reply[], options: readonly string[] = []) {
  const home = temporaryDirectory();
  const heard = join(home, 'heard');
  const config = join(home, 'mcp.json');
  const db = join(home, 'mcp.sqlite');
  const ev = {
    ...commandLine(way, ['--import', fixture('mcpSpy.mjs'), installed('everything')], options),
    env: { MCP_SPY: heard, UNWEDGE_DB: db },
  };
  writeFileSync(config, JSON.stringify({ mcpServers: { ev } }));
  const words = ['-p', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__ev'];
  const args = [...words, '--mcp-config', config, '--strict-mcp-config'];
  const { claude, upstream } = await startRealClaude(script, { args });
  const outcome = claude.call({ prompt: 'do it' }, { maxAttempts: 1 });
  const read = (): string => (existsSync(heard) ? readFileSync(heard, 'utf8') : '');
  return {
    outcome,
    upstream,
    /** The results of the tools, as the model was given them. */
    results: () => resultsOf(upstream.requests.at(-1)),
    /** Resolves with the pid of the server of the moment once it has read a call of this tool. */
    async serverBusyWith(name: string): Promise<number> {
      await vi.waitUntil(() => read().includes(`"name":"${name}"`), seconds);
      return Number(/.*pid (\d+)\n/s.exec(read())?.[1]);
    },
    /** Resolves when neither a server nor a proxy is left. */
    noneLeft: () => vi.waitUntil(() => processesWith(`UNWEDGE_DB=${db}`).length === 0, seconds),
  };
}

function resultsOf(request: FakeRequest | undefined): unknown[] {
  return (request?.body.messages ?? []).flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
  );
}

/** Without what differs between any two runs: ids of calls, and where claude keeps images. */
const comparable = (results: readonly unknown[]): unknown =>
  JSON.parse(JSON.stringify(results).replace(/toolu_[\w-]+|\[Image: source: [^\]]*/g, ''));

describe.skipIf(!hasClaude)('an MCP server behind the proxy under the real claude', () => {
  beforeAll(setup);

  it.each([
    ['killed', 'SIGKILL'],
    ['stopped', 'SIGSTOP'],
  ] as const)(
    '[P-3] that is %s in the middle of a call ends it in a result, and serves the next call',
    async (_, signal) => {
      const options = ['--retry', 'never', '--idle-timeout', '3s'];
      const turn = await startTurn('through the proxy', [long(600), echo('again'), says('done')], options);
      process.kill(await turn.serverBusyWith(busy), signal);
      expect(await turn.outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
      const [lost, next] = turn.results();
      expect(lost).toMatchObject({ is_error: true });
      expect(JSON.stringify(lost)).toContain('no answer came; it changes nothing, so it may be tried again');
      expect(JSON.stringify(next)).toContain('Echo: again');
      expect(next).not.toMatchObject({ is_error: true });
      await turn.noneLeft();
    },
  );

  it('[P-3] [R-12] that is killed in the middle of a call that only reads is not missed', async () => {
    const turn = await startTurn('through the proxy', [long(2), says('done')]);
    process.kill(await turn.serverBusyWith(busy), 'SIGKILL');
    expect(await turn.outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(JSON.stringify(turn.results())).toContain('Long running operation completed');
    await turn.noneLeft();
  });

  it('[P-3] that is killed between two calls serves the next one', async () => {
    const turn = await startTurn('through the proxy', [
      echo('first'),
      (response) => void held.push(response),
      says('done'),
    ]);
    const held: Parameters<Reply>[0][] = [];
    const pid = await turn.serverBusyWith('echo');
    await turn.upstream.reached(2);
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => held.length > 0, seconds);
    for (const response of held) echo('second')(response);
    expect(await turn.outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(JSON.stringify(turn.results().at(-1))).toContain('Echo: second');
    await turn.noneLeft();
  });

  it('[P-3] that is well gives the model what it gives it without the proxy', async () => {
    const calls: readonly (readonly [string, object])[] = [
      ['echo', { message: 'hällo "\\' }],
      ['get-tiny-image', {}],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-resource-links', { count: 2 }],
      ['get-sum', { a: 'not a number' }],
      ['trigger-long-running-operation', { duration: 0.3, steps: 3 }],
    ];
    const seen = [];
    for (const way of ways) {
      const script = calls.map(([name, input]) => callsTool(`mcp__ev__${name}`, input));
      const turn = await startTurn(way, [...script, says('done')]);
      expect(await turn.outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
      seen.push(comparable(turn.results()));
      await turn.noneLeft();
    }
    expect(seen[0]).toHaveLength(calls.length);
    expect(seen[1]).toEqual(seen[0]);
  });
});
