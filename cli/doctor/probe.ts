import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../src/policy/text/face.ts';
import { observe } from '../drill/run.ts';
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

/** Starts each server, asks it who it is and what it can do, and ends it, one after the other. */
export async function probeServers(
  servers: readonly ConfiguredServer[],
  { signal, env, tmp }: DoctorWorld,
): Promise<readonly Finding[]> {
  const folder = mkdtempSync(join(tmp, 'unwedge-probe-'));
  const findings: Finding[] = [];
  try {
    for (const server of servers) {
      signal.throwIfAborted();
      const { agent: owner, file, name } = server;
      const target = { ...server, kind: 'server', owner, reads: [] } as const;
      const row = { on: 'server', fault: 'none' } as const;
      const { got, text } = await observe(target, row, { folder, env, effects: false, signal });
      const fix = `\${EDITOR:-vi} ${shellWord(file)}`;
      const tools = /\d+ tools?/.exec(text)?.[0];
      if (got === 'answer') findings.push(ok('probe', `${name} of ${owner} starts, and has ${tools}`));
      else findings.push(fail('probe', `${name} of ${owner} does not start: ${text}`, fix));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return findings;
}
