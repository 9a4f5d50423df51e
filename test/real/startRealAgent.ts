import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { agentKind } from '../../agents/conversation/agent.ts';
import type { AgentOptions, SdkQueryFunction } from '../../agents/conversation/index.ts';
import { createGateway, unwrap } from '../../src/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { agentSdkPath } from './agentSdkEnv.ts';
import { claudeEnv } from './claudeEnv.ts';
import { type FakeScript, startFakeAnthropic } from './fakeAnthropic.ts';

/** Waits so short that a test need not wait for them. */
const quick = { backoff: { kind: 'constant', delayMs: 10, jitter: { kind: 'none' } } } as const;

/** An agent over the real Agent SDK, which runs its own program against an upstream that answers by a script. */
export async function startRealAgent(script: FakeScript, options: Partial<AgentOptions> = {}) {
  const { query } = (await import(pathToFileURL(agentSdkPath).href)) as { readonly query: SdkQueryFunction };
  const upstream = await startFakeAnthropic(script);
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const gateway = createGateway({ kinds: [agentKind] });
  onTestFinished(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const nothing = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  const agent = gateway.agent('coder', {
    backend: 'claude',
    cwd,
    env: { ...nothing, ...claudeEnv(home, upstream.url) },
    ...options,
    policy: { ...options.policy, retry: { ...quick, ...options.policy?.retry } },
    claude:
      options.claude?.command === undefined
        ? { query, ...options.claude, options: { settingSources: [], ...options.claude?.options } }
        : options.claude,
  });
  await gateway.start();
  return { upstream, home, cwd, gateway, agent, conversation: unwrap(await agent.start()) };
}
