import type { ProcessExit } from '../../machines/subprocessExit.ts';
import { classify } from '../../policy/classify.ts';
import type { FailureFacts } from '../../policy/failure.ts';
import type { AgentCommand } from '../../protocol/agentCommand.ts';
import type { AgentReport } from '../../protocol/agentReport.ts';
import { type ExpectedExit, exitFacts } from './processExit.ts';

/** Longest text on stdout that is taken for an error, in bytes: an answer that went wrong half-way is longer. */
const longestErrorBytes = 2000;

/** An agent that is told to end does so in order, and tells the signal by its exit code. */
const ofAgent = { tellers: new Set(['agent']) } satisfies ExpectedExit;
/** The same where no answer is no success. */
const ofAnswer = { ...ofAgent, expectsOutput: true };

/**
 * Gives the end of an agent's run as a failure, undefined when it succeeded: the word of its protocol counts, its exit code only where the protocol says
 * nothing.
 * @param missed - whether a line was too long to be read.
 */
export function agentExitFacts(
  exit: ProcessExit,
  { agent, format }: AgentCommand,
  report: AgentReport,
  missed = false,
): FailureFacts | undefined {
  if (format === 'text') return agent === 'claude' ? claudeTextFacts(exit) : codexTextFacts(exit);
  // Its last word was read: what a process that it left behind would have written is none of its answer.
  const isWhole = exit.reason === 'output-cut' && (report.concluded || report.failure !== undefined);
  if (exit.reason !== 'exit' && !isWhole) return exitFacts(exit, ofAgent);
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
  return exitFacts(exit, ofAnswer) ?? silent;
}

/** Claude prints what went wrong on stdout, alone, and says by its exit code that it is no answer. */
function claudeTextFacts(exit: ProcessExit): FailureFacts | undefined {
  const { reason, exitCode, stdout, endedAt } = exit;
  const told = stdout.bytes <= longestErrorBytes ? errorOfClaude(stdout.text) : '';
  const said = reason === 'exit' && exitCode !== 0 ? { ...exit, stdout: { ...stdout, text: told } } : exit;
  const facts = exitFacts(said, ofAnswer);
  if (facts?.kind !== 'unknown' || said === exit || exitCode !== 1 || told === '') return facts;
  const found = classify(told, { wallNow: endedAt });
  return { ...found, code: found.code ?? exitCode, cause: undefined };
}

/** Without an answer that an error of the API cut off, and without the prompt that is repeated behind the word of a hook. */
function errorOfClaude(text: string): string {
  const prompt = text.search(/\n\s{0,8}Original prompt:/);
  const told = prompt < 0 ? text : text.slice(0, prompt);
  const error = told.lastIndexOf('\nAPI Error');
  return (error < 0 ? told : told.slice(error)).trim();
}

/**
 * Codex writes all that happens to stderr: the prompt, its commands and what they printed. Only its last line of an error may be told,
 * or judged by; the answer on stdout is neither.
 */
function codexTextFacts(exit: ProcessExit): FailureFacts | undefined {
  const stderr = { ...exit.stderr, text: errorOfCodex(exit) };
  const stdout = exit.exitCode === 0 ? exit.stdout : { ...exit.stdout, text: '' };
  const facts = exitFacts({ ...exit, stderr, stdout }, ofAnswer);
  // Nothing tells whether the API asked for a second or for an hour.
  const isUntold = facts?.kind === 'rate_limit' && facts.retryAfterMs === undefined;
  return facts === undefined || !isUntold ? facts : { ...facts, shouldRetry: false };
}

function errorOfCodex({ exitCode, stderr: { text, omittedBytes } }: ProcessExit): string {
  const isTranscript = omittedBytes > 0 || /^(?:OpenAI Codex |-{8}$)/m.test(text);
  // Other codes are not its own word: what looks like an error may then be the prompt's, or a command's.
  if (isTranscript && exitCode !== 1) return '';
  const error = text.split('\n').findLast((line) => /^(?:ERROR|Error|error): /.test(line));
  return error?.replace(/^ERROR: /, '') ?? (isTranscript ? '' : text);
}
