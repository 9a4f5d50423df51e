import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { ApiProxyOptions } from '../../proxy/api/settings.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import type { ModelScript } from '../../testing/index.ts';
import { quick, startApiProxy } from '../proxy/api/startApiProxy.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv, claudePath } from './claudeEnv.ts';
import { codexPath } from './codexEnv.ts';
import { geminiArgs, geminiEnv, geminiPath } from './geminiEnv.ts';
import { opencodeArgs, opencodeEnv, opencodePath } from './opencodeEnv.ts';
import { sdkAgentPath } from './sdkEnv.ts';

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

/** How a program is run: what, with which words, in which environment. */
type Program = (home: string, cwd: string, url: string) => readonly [string, readonly string[], Record<string, string>];

const claudeArgs = ['-p', 'do it', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'];

const programs = {
  claude: (home, _cwd, url) => [claudePath, [...claudeArgs, '--allowedTools', 'Bash'], claudeEnv(home, url)],
  // With its built-in provider.
  codex: (home, _cwd, url) => {
    mkdirSync(join(home, 'tmp'));
    writeFileSync(join(home, 'config.toml'), 'model = "gpt-5.2-codex"\n[analytics]\nenabled = false\n');
    const settings = [`openai_base_url="${url}/v1"`, 'sandbox_mode="danger-full-access"', 'approval_policy="never"'];
    const args = ['exec', '--json', '--skip-git-repo-check', ...settings.flatMap((each) => ['-c', each]), 'do it'];
    const own = { HOME: home, CODEX_HOME: home, TMPDIR: join(home, 'tmp'), CODEX_API_KEY: 'x' };
    return [codexPath, args, { PATH: process.env['PATH'] ?? '', ...own }];
  },
  opencode: (home, cwd, url) => [opencodePath, opencodeArgs, opencodeEnv(home, cwd, url)],
  gemini: (home, _cwd, url) => [process.execPath, [geminiPath, ...geminiArgs], geminiEnv(home, url)],
  openai: (home, _cwd, url) => [process.execPath, [sdkAgentPath, 'openai', url], { HOME: home }],
  anthropic: (home, _cwd, url) => [process.execPath, [sdkAgentPath, 'anthropic', url], { HOME: home }],
} as const satisfies Readonly<Record<string, Program>>;

/** Names a program that is run. */
export type RealProgram = keyof typeof programs;

/** A program through the proxy before a model API that answers by a script. */
export async function throughApi(
  name: RealProgram,
  script: ModelScript,
  options: Partial<ApiProxyOptions> = {},
  limitMs = hangsAfterMs,
): Promise<RealRun> {
  const gateway = { clock: systemClock };
  const started = await startApiProxy({ script, policy: quick, gateway, ...limits, ...options });
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const [program, args, env] = programs[name](home, cwd, started.origin);
  return { ...(await run(program, args, cwd, env, limitMs)), started };
}

/** `claude -p` through the proxy. */
export const claudeThroughApi = (script: ModelScript, options: Partial<ApiProxyOptions> = {}): Promise<RealRun> =>
  throughApi('claude', script, options);

/** `codex exec` through the proxy. */
export const codexThroughApi = (script: ModelScript, options: Partial<ApiProxyOptions> = {}): Promise<RealRun> =>
  throughApi('codex', script, options);

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  timeout: number,
) {
  const startedAt = performance.now();
  const { exitCode, stdout, timedOut } = await execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
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
