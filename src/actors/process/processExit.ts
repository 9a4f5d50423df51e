import type { ProcessExit } from '../../machines/subprocessExit.ts';
import { usualName } from '../../machines/subprocessInput.ts';
import { classify } from '../../policy/failures/classify.ts';
import { codeMeaning, outcomeOfExit, shellHint } from '../../policy/failures/exitCodes.ts';
import type { ExitTeller } from '../../policy/failures/exitTellers.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import { lastWords } from '../../policy/text/lastWords.ts';
import { neverExecuted } from '../../policy/failures/notExecuted.ts';
import { spawnFailure } from './spawnFailure.ts';
import type { AgentCommand } from '../../protocol/agentCommand.ts';
import type { AgentReport } from '../../protocol/agentReport.ts';
import type { AgentProfile } from '../../protocol/agents/profile.ts';
import { agentFailure, errorLineIn, errorTextIn } from '../../protocol/agents/profileFailure.ts';
import { profileOf } from '../../protocol/agents/profiles.ts';

/** The end of stderr that tells what went wrong, in characters; more would drown it in what went before. */
const tailCharacters = 4000;
/** Longest message for people, in characters. */
const messageCharacters = 500;

/** Facts that are known of a command beforehand. */
interface ExpectedExit {
  /** Counts exit 0 with nothing but white space on stdout as no answer. @defaultValue false */
  readonly expectsOutput?: boolean | undefined;
  /** Name of it in messages for people. @defaultValue 'CLI' */
  readonly calledAs?: string | undefined;
  /** Programs that tell something by an exit code. @defaultValue none: it is the command's own, and its answer */
  readonly tellers?: ReadonlySet<ExitTeller> | undefined;
}

const none: ReadonlySet<ExitTeller> = new Set();

/**
 * Gives the end of a run as a failure; undefined when it exited with 0. Says nothing about the content of the output: a program may exit with 0 and report an
 * error in its own protocol.
 */
export function exitFacts(
  exit: ProcessExit,
  { expectsOutput = false, calledAs = usualName, tellers = none }: ExpectedExit = {},
): FailureFacts | undefined {
  const { reason, message } = exit;
  switch (reason) {
    case 'exit':
      if (exit.exitCode !== 0) return codeFacts(exit, calledAs, tellers);
      return expectsOutput && exit.stdout.text.trim() === '' ? emptyFacts(exit, calledAs) : undefined;
    case 'signal':
      return {
        kind: 'crash',
        message: killedBy(calledAs, exit.signal ?? 'a signal'),
        outcome: 'unknown',
        code: exit.signal,
      };
    case 'overall-timeout':
      return { kind: 'timeout', reason: 'overall_timeout', message, outcome: 'unknown' };
    case 'no-output-timeout':
      return { kind: 'timeout', reason: 'idle_timeout', message, outcome: 'unknown' };
    case 'cancelled':
      return { kind: 'cancelled', message, outcome: 'cancelled' };
    case 'output-cut':
      // An effect that the rest would have told of is not known either.
      return { kind: 'protocol', reason: 'output_cut', message, outcome: 'unknown', code: exit.exitCode };
    case 'output-limit':
      return { kind: 'protocol', reason: 'message_too_large', message, outcome: 'unknown' };
    case 'spawn-error':
      return exit.error instanceof AttemptError
        ? exit.error.facts
        : { ...spawnFailure(exit.error, { command: calledAs }), message };
  }
}

/** Gives the end of a run in which a wrapper or a shell could not execute what it was to, by its own word: nothing ran; undefined for any other end. */
export function unstartedFacts(
  { reason, exitCode, stderr, stdout }: ProcessExit,
  command: string,
  args: readonly string[],
): FailureFacts | undefined {
  if (reason !== 'exit' || exitCode === undefined || stderr.omittedBytes > 0 || stdout.bytes > 0) return undefined;
  const words = { command, args, exitCode, stderr: stderr.text };
  if (!neverExecuted(words)) return undefined;
  return { kind: 'spawn', message: tailOf(stderr.text), outcome: 'not_started', code: exitCode };
}

/** It says that all went well, and nothing else: what it did is not known. */
function emptyFacts({ stderr }: ProcessExit, calledAs: string): FailureFacts {
  const message = lastLines(tailOf(stderr.text)) ?? `${calledAs} exited with code 0 and printed no answer.`;
  return { kind: 'unknown', reason: 'empty_response', message, outcome: 'unknown', code: 0 };
}

/** Exit code first, then the text of stderr, and where that is empty the last lines of stdout. */
function codeFacts(
  { exitCode, stderr, stdout, endedAt }: ProcessExit,
  calledAs: string,
  tellers: ReadonlySet<ExitTeller>,
): FailureFacts {
  const errors = tailOf(stderr.text);
  // Only the end of output, not of errors, may say what went wrong.
  const text = errors === '' ? (lastLines(tailOf(stdout.text)) ?? '') : errors;
  const said = lastLines(text);
  const hint = shellHint(exitCode, tellers);
  const plain = `${calledAs} failed with exit code ${exitCode ?? 'unknown'}`;
  const message = said ?? (hint === undefined ? `${plain}.` : `${plain}, ${hint}.`);
  if (exitCode === undefined) return { kind: 'crash', message, outcome: 'unknown' };
  const meaning = codeMeaning(exitCode, tellers);
  if (meaning?.kind === 'crash')
    return { kind: 'crash', message: killedBy(calledAs, meaning.signal), outcome: 'unknown', code: exitCode };
  if (meaning?.kind === 'timeout') return { kind: 'timeout', message, outcome: 'unknown', code: exitCode };
  const hinted = said === undefined || hint === undefined ? message : `${said} (exit code ${exitCode}, ${hint})`;
  const words = lastWords(text);
  const found = words === undefined ? undefined : classify(words, { wallNow: endedAt, dispatched: true });
  const isAgent = tellers.has('agent');
  if (found === undefined || found.kind === 'unknown' || (!isAgent && ofEnd.has(found.kind)))
    return { kind: 'unknown', message: hinted, outcome: outcomeOfExit(exitCode), code: exitCode };
  // It ran: whatever it says last, what it did before is not known.
  const code = isAgent ? (found.code ?? exitCode) : exitCode;
  return { ...found, message: hinted, outcome: 'unknown', leaves: 'lost', code };
}

/** The end itself tells of these: a command that speaks of them has ended by an exit code all the same. */
const ofEnd: ReadonlySet<FailureFacts['kind']> = new Set(['crash', 'spawn', 'cancelled']);

const tailOf = (text: string): string => text.slice(-tailCharacters).trim();

const killedBy = (calledAs: string, signal: string): string =>
  signal === 'SIGKILL'
    ? `${calledAs} was killed by SIGKILL, not by us; the system may be out of memory.`
    : `${calledAs} was ended by ${signal}, not by us.`;

/** The last lines that fit into a message; undefined when there is no text. */
function lastLines(text: string): string | undefined {
  if (text.length <= messageCharacters) return text === '' ? undefined : text;
  const end = text.slice(-messageCharacters);
  const line = end.indexOf('\n');
  if (line >= 0) return end.slice(line + 1);
  // The first word may be half a secret, which nobody would know for one.
  const next = end.search(/[\s"',;{}]/);
  return next < 0 ? undefined : end.slice(next + 1);
}

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
 * @param retriesItself - whether the agent may have repeated failed requests by itself.
 */
export function agentExitFacts(
  exit: ProcessExit,
  command: AgentCommand,
  report: AgentReport,
  missed = false,
  retriesItself = false,
): FailureFacts | undefined {
  const { format } = command;
  const profile = profileOf(command);
  const { output, title } = profile;
  if (format === 'text' && output === 'claude') return claudeTextFacts(exit);
  if (format === 'text' && output === 'codex') return codexTextFacts(exit);
  // Its last word was read: what a process that it left behind would have written is none of its answer.
  const isWhole = exit.reason === 'output-cut' && (report.concluded || report.failure !== undefined);
  if (exit.reason !== 'exit' && !isWhole) return exitFacts(exit, ofAgent);
  if (report.concluded || report.failure !== undefined) return withStatus(report.failure, exit, profile, retriesItself);
  const told = profileFacts(exit, profile, retriesItself);
  if (told !== undefined || format === 'text') return told;
  return missed
    ? {
        kind: 'protocol',
        reason: 'message_too_large',
        message: `${title} printed a line too long to read`,
        outcome: 'unknown',
      }
    : { kind: 'protocol', message: `${title} ended without a result`, outcome: 'unknown' };
}

/** Exit codes in which an HTTP status of 4xx or 5xx fits, modulo 256; a program's own ones are smaller. */
const leastStatusCode = 400 - 256;

const statusOf = ({ exitCode = 0 }: ProcessExit, { exits }: AgentProfile): number | undefined =>
  exits === 'status' && exitCode >= leastStatusCode ? exitCode + 256 : undefined;

/** A failure that an agent told in words which say no kind: its exit code may. */
function withStatus(
  told: FailureFacts | undefined,
  exit: ProcessExit,
  profile: AgentProfile,
  retriesItself: boolean,
): FailureFacts | undefined {
  const status = statusOf(exit, profile);
  if (told?.kind !== 'unknown' || status === undefined) return told;
  return agentFailure(profile, { message: told.message, status }, exit.endedAt, retriesItself);
}

/** The end of an agent that told none in its protocol: by its own words, then by what its exit code is worth. */
function profileFacts(exit: ProcessExit, profile: AgentProfile, retriesItself: boolean): FailureFacts | undefined {
  const { exitCode = 0, stderr, stdout, endedAt } = exit;
  const status = statusOf(exit, profile);
  const said = errorLineIn(stderr.text, profile, exitCode) ?? errorTextIn(stdout.text, profile);
  if (said === undefined && status === undefined) {
    if (profile.exits === 'signal') return exitFacts(exit, ofAnswer);
    return exitFacts({ ...exit, stdout: exitCode === 0 ? stdout : { ...stdout, text: '' } }, { expectsOutput: true });
  }
  const message = said ?? `${profile.title} failed with HTTP ${status}`;
  const facts = agentFailure(profile, { message, status }, endedAt, retriesItself);
  return { ...facts, outcome: 'unknown', code: facts.code ?? exitCode };
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
