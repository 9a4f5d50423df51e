import { readFileSync } from 'node:fs';
import { agentExitFacts } from '../../src/actors/process/processExit.ts';
import type { ProcessExit } from '../../src/machines/subprocessExit.ts';
import { agentCommand } from '../../src/protocol/agentCommand.ts';
import { createAgentStream } from '../../src/protocol/agentStream.ts';

const formats: Readonly<Record<string, readonly string[]>> = {
  goose: ['run', '-q', '-t', 'do it', '--output-format'],
  gemini: ['-p', 'do it', '-o'],
  opencode: ['run', 'do it', '--format'],
  copilot: ['-p', 'do it', '--output-format'],
};

/** Reads what a recorded run of an agent printed; empty where it printed nothing. */
function recorded(agent: string, name: string, stream: 'out' | 'err'): string {
  try {
    return readFileSync(new URL(`../fixtures/agents/${agent}/${name}.${stream}`, import.meta.url), 'utf8');
  } catch {
    return '';
  }
}

/** The arguments by which the recorded run was started: the form of its output is the end of its name. */
export function recordedArgs(agent: string, name: string): readonly string[] {
  const form = /-(text|json)$/.exec(name)?.[1];
  const words = formats[agent] ?? [];
  if (form === 'text') return words.slice(0, -1);
  return [...words, form === undefined && (agent === 'goose' || agent === 'gemini') ? 'stream-json' : 'json'];
}

const output = (text: string) => ({ text, bytes: text.length, omittedBytes: 0 });

/** Judges a recorded run: what the agent said, and what its end was. */
export function judgeRecorded(agent: string, name: string, exitCode: number | 'SIGTERM', retriesItself = false) {
  const command = agentCommand(agent, recordedArgs(agent, name));
  if (command === undefined) throw new Error(`${agent} ${name} is no command of an agent`);
  const [stdout, stderr] = [recorded(agent, name, 'out'), recorded(agent, name, 'err')];
  const signs: string[] = [];
  const stream = createAgentStream(command, retriesItself, (sign) => signs.push(sign));
  stream.push(Buffer.from(stdout));
  const before = stream.report(0).effects;
  stream.end();
  const exit = {
    ...(typeof exitCode === 'number' ? { reason: 'exit', exitCode } : { reason: 'signal', signal: exitCode }),
    ...{ stdout: output(stdout), stderr: output(stderr), message: '', outputCut: false, endedAt: 0 },
  } as unknown as ProcessExit;
  const report = stream.report(0);
  const failure = agentExitFacts(exit, command, report, stream.missed, retriesItself);
  return { report, failure, signs, before };
}
