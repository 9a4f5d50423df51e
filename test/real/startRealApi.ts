import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { ApiProxyOptions } from '../../src/apiProxy/settings.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import type { ModelAnswer } from '../../src/testing/index.ts';
import { quick, startApiProxy } from '../apiProxy/startApiProxy.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv, claudePath } from './claudeEnv.ts';
import { codexPath } from './codexEnv.ts';

/** A run that takes longer hangs, in ms. */
const hangsAfterMs = 60_000;

/** What came of a run of the real program through the proxy. */
export interface RealRun {
  readonly code: number | undefined;
  readonly hung: boolean;
  readonly stdout: string;
  readonly elapsedMs: number;
  /** How often the tool ran. */
  readonly effects: number;
  readonly started: Awaited<ReturnType<typeof startApiProxy>>;
}

/** The command of the tool: how often it ran is how long the file is. */
export const effect = 'echo x >> effect';

/** Limits so short that a test need not wait for them. */
const limits = { bytesMs: 3000, headersMs: 3000 } as const;

/** `claude -p` through the proxy before a model API that answers by a script. */
export async function claudeThroughApi(
  script: readonly ModelAnswer[],
  options: Partial<ApiProxyOptions> = {},
): Promise<RealRun> {
  const started = await startApiProxy({
    script,
    policy: quick,
    gateway: { clock: systemClock },
    ...limits,
    ...options,
  });
  const home = temporaryDirectory();
  const args = [
    '-p',
    'do it',
    '--output-format',
    'stream-json',
    '--verbose',
    '--include-partial-messages',
    '--allowedTools',
    'Bash',
  ];
  return { ...(await run(claudePath, args, home, claudeEnv(home, started.origin))), started };
}

/** `codex exec` with its built-in provider through the same. */
export async function codexThroughApi(
  script: readonly ModelAnswer[],
  options: Partial<ApiProxyOptions> = {},
): Promise<RealRun> {
  const started = await startApiProxy({
    script,
    policy: quick,
    gateway: { clock: systemClock },
    ...limits,
    ...options,
  });
  const home = temporaryDirectory();
  mkdirSync(join(home, 'tmp'));
  writeFileSync(join(home, 'config.toml'), 'model = "gpt-5.2-codex"\n[analytics]\nenabled = false\n');
  const settings = [
    `openai_base_url="${started.origin}/v1"`,
    'sandbox_mode="danger-full-access"',
    'approval_policy="never"',
  ];
  const args = ['exec', '--json', '--skip-git-repo-check', ...settings.flatMap((each) => ['-c', each]), 'do it'];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CODEX_HOME: home,
    TMPDIR: join(home, 'tmp'),
    CODEX_API_KEY: 'x',
  };
  return { ...(await run(codexPath, args, home, env)), started };
}

async function run(program: string, args: readonly string[], home: string, env: Record<string, string>) {
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const startedAt = performance.now();
  const { exitCode, stdout, timedOut } = await execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: hangsAfterMs,
  });
  const file = join(cwd, 'effect');
  return {
    code: exitCode,
    hung: timedOut,
    stdout,
    elapsedMs: performance.now() - startedAt,
    effects: existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0,
  };
}
