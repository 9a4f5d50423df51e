import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentKind, type AgentMethods } from '../../../agents/conversation/agent.ts';
import type { Agent } from '../../../agents/conversation/agentTypes.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../../src/index.ts';
import { fakeClaude } from '../../support/fakeClaude.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/temporary.ts';

const command = process.execPath;
const tells = 'process.stdout.write(process.env.HOST_TOKEN ?? "nothing")';
const args = ['-e', tells];

async function start(options: GatewayOptions, declare: (gateway: Gateway & AgentMethods) => void): Promise<Gateway> {
  vi.stubEnv('HOST_TOKEN', 'of-the-host');
  const gateway = createGateway({ ...options, kinds: [agentKind] });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await gateway.stop();
  });
  declare(gateway);
  await gateway.start();
  return gateway;
}

describe('what the children of a gateway inherit', () => {
  it.each([
    ['all', {}, {}, 'of-the-host'],
    ['what is safe, where the gateway says so', { environment: 'safe' }, {}, 'nothing'],
    ['all, where the child says so', { environment: 'safe' }, { envMode: 'extend' }, 'of-the-host'],
    ['what is allowed besides', { environment: 'safe' }, { envAllow: ['HOST_TOKEN'] }, 'of-the-host'],
    ['what is safe, where the child says so', {}, { envMode: 'safe' }, 'nothing'],
  ] as const)('[O-8] is %s', async (_, options, own, told) => {
    let run: ReturnType<Gateway['subprocess']> | undefined;
    await start(options, (gateway) => {
      run = gateway.subprocess('tells', { command, args, ...own });
    });
    const outcome = await run?.call({});
    expect(outcome?.ok === true ? outcome.value.stdout.text : outcome).toBe(told);
  });

  it('[O-8] holds for command hooks, Claude and Codex', async () => {
    const file = join(temporaryDirectory(), 'hook');
    const script = `require('node:fs').writeFileSync(process.argv[1], process.env.HOST_TOKEN ?? 'nothing')`;
    const seen: (string | undefined)[] = [];
    const query = ({ options }: { options?: { env?: Record<string, string | undefined> } }) => {
      seen.push(options?.env?.['HOST_TOKEN'], options?.env?.['PATH']);
      throw new Error('seen');
    };
    let claude: Agent | undefined;
    const gateway = await start({ environment: 'safe' }, (made) => {
      made.hook('Stop', { command, args: ['-e', script, file] });
      claude = made.agent('claude', { backend: 'claude', claude: { query: query as never } });
    });
    await gateway.runHooks({ event: 'Stop' });
    expect(readFileSync(file, 'utf8')).toBe('nothing');
    const opened = await claude?.start();
    if (opened?.ok === true) await opened.value.send('hello').outcome;
    expect(seen.slice(0, 2)).toEqual([undefined, process.env['PATH']]);
  });

  it('is none of other words', () => {
    // @ts-expect-error wrong on purpose
    expect(() => createGateway({ environment: 'none' })).toThrow(/environment.*extend.*safe.*"none"/);
  });

  it("[R-6] bounds Claude's own retries, where the host's setting does not reach it", async () => {
    vi.stubEnv('CLAUDE_CODE_MAX_RETRIES', '7');
    const claude = fakeClaude({ text: 'done' });
    let run: ReturnType<Gateway['subprocess']> | undefined;
    await start({ environment: 'safe' }, (gateway) => {
      run = gateway.subprocess('claude', {
        command: claude.command,
        args: [...claude.args, '-p', '--output-format', 'stream-json', '--verbose'],
        env: claude.env,
        agent: 'claude',
      });
    });
    await run?.call({ prompt: 'hello' });
    expect(claude.runs()[0]?.retries).toBe('1');
  });
});
