import { createGateway } from '../../src/gateway/face.ts';
import { shellWord, withLastLine } from '../../src/policy/text/face.ts';
import { type DoctorWorld, type Finding, fail, ok } from './finding.ts';

/** An MCP server that an agent would start. */
export interface ConfiguredServer {
  /** Agent that has it. */
  readonly agent: string;
  readonly file: string;
  readonly name: string;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Time in ms beyond which a slow start is as good as broken: agents show their servers within seconds. */
const startMs = 10_000;

/** Starts each server, asks it who it is and what it can do, and ends it, one after the other. */
export async function probeServers(
  servers: readonly ConfiguredServer[],
  { signal }: DoctorWorld,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const server of servers) {
    signal.throwIfAborted();
    findings.push(await probe(server));
  }
  return findings;
}

async function probe({ agent, file, name, words, cwd, env }: ConfiguredServer): Promise<Finding> {
  const [command = '', ...args] = words;
  // Nothing is recorded: what becomes of a probe is no failure of anything.
  const gateway = createGateway({ store: ':memory:', control: false, alerts: false, childGuard: false });
  // A gateway starts it again and again; one end before it is up says enough.
  const ended = new Promise<string>((resolve) => {
    gateway.on('child.crashed', ({ error }) => resolve(withLastLine(error)));
  });
  try {
    const policy = { maxAttempts: 1, restartWaitMs: startMs, limits: { overallMs: startMs } };
    const server = gateway.mcpServer('probed', {
      command,
      args,
      cwd,
      env,
      envMode: 'extend',
      handshakeMs: startMs,
      policy,
    });
    await gateway.start();
    const tools = await Promise.race([server.tools(), ended]);
    if (typeof tools !== 'string' && tools.ok)
      return ok('probe', `${name} of ${agent} starts, and has ${tools.value.length} tools`);
    const why = typeof tools === 'string' ? tools : tools.failure.message;
    return fail('probe', `${name} of ${agent} does not start: ${why}`, `\${EDITOR:-vi} ${shellWord(file)}`);
  } finally {
    await gateway.stop();
  }
}
