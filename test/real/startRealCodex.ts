import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { codexKind } from '../../agents/codex/codex.ts';
import type { CodexOptions, CodexThreadOptions } from '../../agents/codex/index.ts';
import { createGateway, type Fact } from '../../src/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { codexPath } from './codexEnv.ts';
import { type OpenaiReply, startFakeOpenai } from './fakeOpenai.ts';

export interface RealCodexOptions extends CodexOptions {
  /** Where requests for a response go. @defaultValue the fake */
  readonly baseUrl?: string;
}

/** The real app-server under a gateway, against an upstream that answers by a script. */
export async function startRealCodex(script: readonly OpenaiReply[], { baseUrl, ...options }: RealCodexOptions = {}) {
  const upstream = await startFakeOpenai(script);
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  const temporary = join(home, 'tmp');
  for (const path of [cwd, temporary]) mkdirSync(path);
  writeFileSync(
    join(home, 'config.toml'),
    `model = "fake-model"
model_provider = "fake"
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "${baseUrl ?? upstream.url}"
wire_api = "responses"
env_key = "FAKE_KEY"
`,
  );
  const gateway = createGateway({ kinds: [codexKind] });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  onTestFinished(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const codex = gateway.codex('codex', {
    command: codexPath,
    env: { HOME: home, CODEX_HOME: home, TMPDIR: temporary, FAKE_KEY: 'x' },
    envMode: 'safe',
    cwd,
    // Its own retries are bounded, so that a test need not wait for thirty of them.
    config: { 'model_providers.fake.request_max_retries': 0, 'model_providers.fake.stream_max_retries': 1 },
    handshakeMs: 60_000,
    ...options,
  });
  await gateway.start();
  const open = async (threadOptions: CodexThreadOptions = {}) => {
    const outcome = await codex.startThread({
      cwd,
      approvalPolicy: 'untrusted',
      sandbox: 'workspace-write',
      ...threadOptions,
    });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    return outcome.value;
  };
  const pid = (): number => {
    const started = facts.findLast((fact) => fact.type === 'codex.app_server.connection.start');
    if (started === undefined) throw new Error('No app-server was started');
    return started.pid;
  };
  return { upstream, gateway, codex, facts, cwd, home, open, pid };
}

/** The processes that work in a directory. */
export function processesIn(directory: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === directory;
    } catch {
      return false;
    }
  });
}

/** The words that a process was started with, a NUL behind each; empty when it is gone. */
export function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
