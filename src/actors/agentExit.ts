import type { ProcessExit } from '../machines/subprocessExit.ts';
import { classify } from '../policy/classify.ts';
import type { FailureFacts } from '../policy/failure.ts';
import type { AgentCommand } from '../protocol/agentCommand.ts';
import type { AgentReport } from '../protocol/agentReport.ts';
import { exitFacts } from './processExit.ts';

/** Longest text on stdout that is taken for an error, in bytes: an answer that went wrong half-way is longer. */
const longestErrorBytes = 2000;

/**
 * What the end of an agent's run means as a failure, undefined when it succeeded: what its protocol says counts, its exit code only
 * where the protocol says nothing.
 * @param missed - whether a line was too long to be read.
 */
export function agentExitFacts(
  exit: ProcessExit,
  { agent, format }: AgentCommand,
  report: AgentReport,
  missed = false,
): FailureFacts | undefined {
  if (format === 'text') return agent === 'claude' ? textFacts(exit) : exitFacts(exit, { expectsOutput: true });
  if (exit.reason !== 'exit') return exitFacts(exit);
  if (report.concluded || report.failure !== undefined) return report.failure;
  const name = agent === 'claude' ? 'Claude' : 'Codex';
  const silent: FailureFacts = missed
    ? {
        kind: 'protocol',
        reason: 'message_too_large',
        message: `${name} printed a line too long to read`,
        outcome: 'unknown',
      }
    : { kind: 'protocol', message: `${name} ended without a result`, outcome: 'unknown' };
  return exitFacts(exit, { expectsOutput: true }) ?? silent;
}

/** Claude prints what went wrong on stdout, alone, and says by its exit code that it is no answer. */
function textFacts(exit: ProcessExit): FailureFacts | undefined {
  const facts = exitFacts(exit, { expectsOutput: true });
  const { reason, exitCode, stdout, endedAt } = exit;
  const told = stdout.text.trim();
  const isError = reason === 'exit' && exitCode === 1 && told !== '' && stdout.bytes <= longestErrorBytes;
  if (facts?.kind !== 'unknown' || !isError) return facts;
  const found = classify(told, { wallNow: endedAt });
  return { ...found, code: found.code ?? exitCode, cause: undefined };
}
