import { fstatSync, type Stats } from 'node:fs';
import { bringExeca } from '../../src/actors/process/face.ts';
import { type RunRequest, type RunResult, joinedAnswerOf } from '../../src/integrations/subprocess/face.ts';
import type { OutputStream } from '../../src/machines/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { Outcome } from '../../src/policy/failures/face.ts';
import { createResultJoiner } from './claudeResult.ts';
import { type FactRedactor, KnownSecrets, createFactRedactor, createTextRedactor } from '../../src/redaction/face.ts';
import type { EndedBySignal, Io } from '../io.ts';
import { alertWords, namedConfig } from '../namedConfig.ts';
import { startTelemetry } from '../otel.ts';
import { createOwnLogger } from '../ownLogger.ts';
import { sanitize, toJsonLine } from '../sanitize.ts';
import { endedCode, exitCodeOf, exitCodes } from './exitCode.ts';
import { failedText, lastWords, leftLines, notBefore, openedItself, spinningLines } from './lastWords.ts';
import type { RunArgs } from './command.ts';
import { type HeldOutput, holdOutput, ownOutput, type Sink } from './output.ts';
import { readPrompt } from './prompt.ts';
import { planRun, type RunPlan } from './request.ts';
import { type RunEnd, superviseRun } from './supervisedRun.ts';

/** Does what `unwedge run` was asked to do. Gives the exit code. */
export async function run(args: RunArgs, io: Io, rest: readonly string[]): Promise<number> {
  bringExeca(() => import('./execaCopy.ts'));
  const config = await namedConfig(args.config, io);
  const plan = planRun(args, rest, { stdin: process.stdin.isTTY, stdout: process.stdout.isTTY }, config);
  const secrets = new KnownSecrets(io.env);
  const redactor = createTextRedactor(secrets);
  const own = ownOutput(process, (text) => redactor.text(text));
  for (const line of alertWords(config, 'run')) own.say(line);
  let request: RunRequest = {};
  try {
    if (plan.promptFile !== undefined) request = await readPrompt(plan.promptFile, io.signal);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    for (const line of endedLines(io.signal, undefined)) own.say(line);
    return exitCodes.ownError;
  }
  const isInterrupted = plan.onTerminal ? io.leaveInterrupts?.() : undefined;

  const held = new Map<number, HeldOutput>();
  const sink: Sink = plan.json
    ? { write: (chunk, stream) => (stream === 'stderr' ? own.write(chunk, stream) : undefined) }
    : own;
  let opened: string | undefined;
  let joined: JoinedOutput | undefined;
  /** As its readers should have it, where the result of an agent may be the last piece of its answer. */
  const asWhole = (to: Sink): Sink => {
    if (!plan.printsResult) return to;
    joined = joinOutput(
      to,
      createResultJoiner((id, last) => joinedAnswerOf(id, last, io.env)),
    );
    return joined;
  };
  const end = await superviseRun(plan, request, {
    env: io.env,
    telemetry: (registry) => startTelemetry(args.otel, registry, io),
    signal: io.signal,
    isInterrupted,
    outputOf(attempt) {
      if (!plan.holdsOutput) return asWhole(sink);
      for (const earlier of held.values()) earlier.discard();
      const output = holdOutput();
      held.set(attempt, output);
      return output;
    },
    logger: createOwnLogger((line) => own.say(sanitize(line))),
    onRetry({ attempt, kind, message, delayMs }) {
      const next = `attempt ${attempt + 1} of ${plan.policy.retry.maxAttempts} in ${formatDuration(delayMs ?? 0)}`;
      own.say(`attempt ${attempt} failed (${kind}: ${sanitize(message)}); ${next}`);
    },
    onSpinning(fact) {
      for (const line of spinningLines(fact)) own.say(line);
    },
    onBudget: ({ message }) => own.say(sanitize(message)),
    onBreaker(fact) {
      if (fact.type === 'breaker.closed') own.say(`${sanitize(plan.name)} went well again`);
      else {
        const cause = { kind: 'unknown', message: '', rule: fact.rule, failures: [] } as const;
        opened = `${failedText(plan.name, cause)}, ${notBefore({ retryAfterMs: fact.openForMs }, io.now())}`;
      }
    },
  });
  const last = [...held.values()].at(-1);
  await last?.release(asWhole(sink));
  await joined?.end();
  const trouble = own.trouble ?? last?.trouble;
  if (trouble !== undefined) own.say(`the output is not complete: ${sanitize(trouble)}`);
  const ownCode = exitCodeFor(plan, end, io.signal);
  // Half of an output must not pass for the whole.
  const exitCode = ownCode === 0 && trouble !== undefined ? exitCodes.ownError : ownCode;
  // The last words say it too if its own attempts opened it.
  if (opened !== undefined && !openedItself(end)) own.say(opened);
  const words = io.signal.aborted
    ? endedLines(io.signal, end)
    : [...lastWords(plan, end, io.now()), ...stdinWords(plan, end)];
  for (const line of words) own.say(line);
  if (plan.json) io.stdout.write(toJsonLine(report(plan, end, exitCode, createFactRedactor(secrets))));
  return exitCode;
}

/** Tells the end; who pressed Ctrl-C at this terminal knows; who reads the log of a job that was ended does not. */
function endedLines({ reason }: AbortSignal, end: RunEnd | undefined): readonly string[] {
  const signal = reason instanceof Error && 'signal' in reason ? (reason as EndedBySignal).signal : undefined;
  if (signal === undefined) return [];
  const isKnown = signal === 'SIGINT' && process.stderr.isTTY;
  return [...(isKnown ? [] : [`ended by ${signal}`]), ...leftLines(end?.left)];
}

function exitCodeFor({ isAgent, exits }: RunPlan, { outcome, exit }: RunEnd, signal: AbortSignal): number {
  const ended = endedCode(signal);
  if (ended !== undefined) return ended;
  return outcome.ok ? 0 : exitCodeOf(outcome.failure, exit, isAgent, exits);
}

/** Makes the print of `--json`. Output of the command is as it is, as text: bytes that are no UTF-8 are replaced. The rest is redacted. */
function report(
  plan: RunPlan,
  { outcome, exit, attempts, elapsedMs, left }: RunEnd,
  exitCode: number,
  redact: FactRedactor,
) {
  return {
    ...redact({
      name: plan.name,
      command: [plan.command, ...plan.args],
      ok: outcome.ok,
      exit_code: exitCode,
      attempts,
      elapsed_ms: Math.round(elapsedMs),
      ...failureReport(outcome),
      effects: left?.effects ?? null,
      session_id: left?.sessionId ?? null,
      left_running: exit?.leftRunning ?? [],
      command_exit_code: exit?.exitCode ?? null,
      signal: exit?.signal ?? null,
    }),
    stdout: exit?.stdout ?? null,
    stderr: exit?.stderr ?? null,
    agent: (outcome.ok ? outcome.value.agent : undefined) ?? null,
  };
}

function failureReport(outcome: Outcome<RunResult>) {
  if (outcome.ok) return {};
  const { kind, reason, message, retryable, retryAfterMs } = outcome.failure;
  return { kind, reason: reason ?? null, message, retryable, retry_after_ms: retryAfterMs ?? null };
}

/**
 * That the command did not get what was piped into `unwedge run`, where it failed and may have wanted that. Nothing is read to find out: what
 * is in the pipe may be for a command that follows in the same script.
 * @param stdin - what our stdin is. @defaultValue asked of the system
 */
export function stdinWords(
  { inheritsStdin, promptFile }: Pick<RunPlan, 'inheritsStdin' | 'promptFile'>,
  { outcome, attempts }: Pick<RunEnd, 'outcome' | 'attempts'>,
  stdin: () => Pick<Stats, 'isFIFO' | 'isFile' | 'size'> = () => fstatSync(0),
): readonly string[] {
  if (outcome.ok || attempts === 0 || outcome.failure.kind === 'cancelled') return [];
  if (inheritsStdin || promptFile !== undefined || !mayHoldInput(stdin)) return [];
  return ['stdin is not passed on with more than one attempt; --prompt-file - gives it to each of them'];
}

/** Not /dev/null and terminals, which are devices, nor sockets, which parents that are programs leave open. */
function mayHoldInput(stdin: () => Pick<Stats, 'isFIFO' | 'isFile' | 'size'>): boolean {
  try {
    const stats = stdin();
    return stats.isFIFO() || (stats.isFile() && stats.size > 0);
  } catch {
    // It is closed.
    return false;
  }
}

const newline = 0x0a;

/** Longest line that is held back until it is whole, in bytes; a longer one passes as it is. */
const longestLine = 16 * 1024 * 1024;

/** The output of an agent, whose lines pass one by one. */
interface JoinedOutput extends Sink {
  /** Passes on what is left of the last line. Waits for a slow reader. */
  end(): Promise<void>;
}

/**
 * Passes the lines of stdout on as `amend` gives them, and all else as it is.
 * @param amend - gives the line itself where there is nothing to amend.
 */
export function joinOutput(sink: Sink, amend: (line: string) => string): JoinedOutput {
  let pieces: Buffer[] = [];
  let held = 0;
  let isPassing = false;

  function pass(end: Buffer): Promise<void> | undefined {
    const whole = pieces.length === 0 ? end : Buffer.concat([...pieces, end]);
    pieces = [];
    held = 0;
    if (isPassing || whole.length === 0) return whole.length === 0 ? undefined : sink.write(whole, 'stdout');
    const text = whole.toString('utf8');
    const line = text.endsWith('\n') ? text.slice(0, -1) : text;
    const amended = amend(line);
    const bytes = amended === line ? whole : Buffer.from(`${amended}${text.slice(line.length)}`);
    return sink.write(bytes, 'stdout');
  }

  return {
    write(chunk: Uint8Array, stream: OutputStream) {
      if (stream !== 'stdout') return sink.write(chunk, stream);
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let busy: Promise<void> | undefined;
      for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
        busy = pass(rest.subarray(0, at + 1)) ?? busy;
        isPassing = false;
        rest = rest.subarray(at + 1);
      }
      if (rest.length === 0) return busy;
      if (isPassing || held + rest.length > longestLine) {
        isPassing = true;
        return pass(rest) ?? busy;
      }
      pieces.push(Buffer.from(rest));
      held += rest.length;
      return busy;
    },
    async end() {
      await pass(Buffer.alloc(0));
    },
  };
}
