import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import { faultyModelApi, type ModelScript } from '../../testing/index.ts';
import { main } from '../cli/startRun.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { claudeEnv } from './claudeEnv.ts';
import { type FakeScript, startFakeAnthropic } from './fakeAnthropic.ts';
import { copilotArgs, copilotEnv, copilotPath } from './copilotEnv.ts';
import { type OpenaiReply, startFakeOpenai } from './fakeOpenai.ts';
import { geminiArgs, geminiEnv, geminiPath } from './geminiEnv.ts';
import { gooseArgs, gooseEnv, goosePath } from './gooseEnv.ts';
import { opencodeArgs, opencodeEnv, opencodePath } from './opencodeEnv.ts';

interface Surroundings {
  readonly home: string;
  readonly cwd: string;
}

function startSurroundings(): Surroundings {
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  for (const path of [cwd, join(home, 'tmp')]) mkdirSync(path, { recursive: true });
  return { home, cwd };
}

/** Runs the built `unwedge run` with nothing in its environment but what is given. */
async function runBuilt(words: readonly string[], { home, cwd }: Surroundings, env: Record<string, string>) {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [main, 'run', ...words], {
    cwd,
    env: { ...env, UNWEDGE_DB: join(home, 'runs.sqlite') },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  return { code: exitCode, stdout, stderr };
}

/** `unwedge run` over the real claude, whose upstream answers by a script. */
export async function runOverClaude(script: FakeScript, words: readonly string[], env: Record<string, string> = {}) {
  const upstream = await startFakeAnthropic(script);
  onTestFinished(() => upstream.close());
  const surroundings = startSurroundings();
  const ran = await runBuilt(words, surroundings, { ...claudeEnv(surroundings.home, upstream.url), ...env });
  return { ...ran, upstream, cwd: surroundings.cwd };
}

/** `unwedge run` over the real codex, configured for a provider of the user's, whose upstream answers by a script. */
export async function runOverCodex(script: readonly OpenaiReply[], words: readonly string[]) {
  const upstream = await startFakeOpenai(script);
  onTestFinished(() => upstream.close());
  const surroundings = startSurroundings();
  const { home } = surroundings;
  writeFileSync(
    join(home, 'config.toml'),
    `model = "fake-model"
model_provider = "fake"
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "${upstream.url}"
wire_api = "responses"
env_key = "FAKE_KEY"
`,
  );
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CODEX_HOME: home,
    TMPDIR: join(home, 'tmp'),
    FAKE_KEY: 'x',
  };
  return { ...(await runBuilt(words, surroundings, env)), upstream };
}

/** Agents that have no reader of their own. */
const agents = {
  goose: (home, _, url) => [[goosePath, ...gooseArgs], gooseEnv(home, url)],
  gemini: (home, _, url) => [[process.execPath, geminiPath, ...geminiArgs], geminiEnv(home, url)],
  opencode: (home, cwd, url) => [[opencodePath, ...opencodeArgs], opencodeEnv(home, cwd, url)],
  copilot: (home, _, url) => [[process.execPath, copilotPath, ...copilotArgs], copilotEnv(home, url)],
} as const satisfies Readonly<
  Record<string, (home: string, cwd: string, url: string) => readonly [readonly string[], Record<string, string>]>
>;

export type ProfiledAgent = keyof typeof agents;

/** A real agent that is known by its profile alone, whose model API answers by a script: its program, and the words of a run. */
export async function startAgentAlone(agent: ProfiledAgent, script: ModelScript) {
  const upstream = await faultyModelApi(script);
  onTestFinished(() => upstream.close());
  const surroundings = startSurroundings();
  const [command, env] = agents[agent](surroundings.home, surroundings.cwd, upstream.url);
  const program = command.slice(0, command[0] === process.execPath ? 2 : 1);
  const words = command.slice(program.length);
  return { ...surroundings, env, program, words, requests: () => upstream.requests };
}

/** `unwedge run` over a real agent that is known by its profile alone, whose model API answers by a script. */
export async function runOverAgent(agent: ProfiledAgent, script: ModelScript, options: readonly string[] = []) {
  const upstream = await faultyModelApi(script);
  onTestFinished(() => upstream.close());
  const surroundings = startSurroundings();
  const [command, env] = agents[agent](surroundings.home, surroundings.cwd, upstream.url);
  const ran = await runBuilt(['--agent', agent, '--json', ...options, '--', ...command], surroundings, env);
  const report = JSON.parse(ran.stdout) as Record<string, unknown>;
  return { ...ran, report, cwd: surroundings.cwd, requests: upstream.requests.length };
}
