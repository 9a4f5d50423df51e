import type { AgentCommand } from './agentCommand.ts';
import type { AgentReader, AgentReport, AgentSign } from './agentReport.ts';
import { createClaudeReader } from './claudeOutput.ts';
import { createCodexReader } from './codexExec.ts';
import { createLineSplitter } from './lines.ts';

/** Longest line that is read, in bytes: an answer with all that led to it may be one. */
const longestLineBytes = 16 * 1024 * 1024;
/** Above this, in characters, only what ends a run is worth parsing: results of tools can be as long as their files. */
const longestCheapLine = 256 * 1024;

/** The stdout of one agent's run, as it comes. Memory is bounded by the longest line. */
export interface AgentStream {
  push(chunk: Uint8Array): void;
  /** The stream has ended: what is left is its last line. @param isCut - whether it was given up before its end. @defaultValue false */
  end(isCut?: boolean): void;
  report(wallNow: number): AgentReport;
  /** True once a line was too long to be read. */
  readonly missed: boolean;
}

/**
 * Reads the output of an agent; of plain text it tells nothing but whose it is.
 * @param retriesItself - whether the agent may repeat a failed request by itself, where that is known.
 * @param heard - told of the liveness of each message of a stream, once it is whole: half a line is none. Must not throw.
 */
export function createAgentStream(
  { agent, format }: AgentCommand,
  retriesItself?: boolean,
  heard?: (sign: AgentSign) => void,
): AgentStream {
  if (format === 'text') return silentStream({ agent, effects: 'unknown', concluded: false });
  const isStream = format === 'stream-json';
  const reader: AgentReader =
    agent === 'claude' ? createClaudeReader({ isStream, retriesItself }) : createCodexReader(retriesItself);
  let missed = false;
  /** A line that was not read may have told of an act. The long lines of Claude that are passed over are answers to what it asked for. */
  let unread = false;
  const splitter = createLineSplitter({
    maxBytes: longestLineBytes,
    onLine(line) {
      let sign: AgentSign = 'progress';
      if (line.length <= longestCheapLine || ends(line)) sign = reader.line(line);
      else if (agent === 'codex') unread = true;
      heard?.(sign);
    },
    onTooLong() {
      missed = true;
      unread = true;
    },
  });
  return {
    push: (chunk) => splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
    end(isCut = false) {
      splitter.end();
      unread ||= isCut;
    },
    report(wallNow) {
      const report = reader.report(wallNow);
      return unread && report.effects === 'none' ? { ...report, effects: 'possible' } : report;
    },
    get missed() {
      return missed;
    },
  };
}

/** Text that a model or a tool wrote has its quotes escaped, so this is the message's own. */
const ends = (line: string): boolean => /"type":"(?:result|agent_message|turn\.[a-z]+|assistant)"/.test(line);

function silentStream(report: AgentReport): AgentStream {
  return { push: () => undefined, end: () => undefined, report: () => report, missed: false };
}
