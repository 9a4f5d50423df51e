import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createGateway, type SubprocessOptions } from '../../src/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv, claudePath } from './claudeEnv.ts';
import { type FakeScript, startFakeAnthropic } from './fakeAnthropic.ts';

/** Waits so short that a test need not wait for them. */
const quick = { backoff: { kind: 'constant', delayMs: 10, jitter: { kind: 'none' } } } as const;

/** The real program under a gateway, against an upstream that answers by a script. */
export async function startRealClaude(script: FakeScript, options: Partial<SubprocessOptions> = {}) {
  const upstream = await startFakeAnthropic(script);
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const gateway = createGateway();
  onTestFinished(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const claude = gateway.subprocess('claude', {
    command: claudePath,
    args: ['-p', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'Bash'],
    cwd,
    env: claudeEnv(home, upstream.url),
    envMode: 'only',
    policy: { retry: quick },
    ...options,
  });
  await gateway.start();
  return { upstream, home, cwd, gateway, claude, env: claudeEnv(home, upstream.url) };
}
