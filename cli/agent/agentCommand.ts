import { superviseAgent } from '../../agents/conversation/agent.ts';
import { failuresOf } from '../../agents/conversation/agentFallback.ts';
import type { Agent, AgentOptions, AgentResult } from '../../agents/conversation/agentTypes.ts';
import type { ClaudeBackendOptions } from '../../agents/conversation/claude/claudeBackendOptions.ts';
import { importQuery } from '../../agents/conversation/claude/claudeSdkModule.ts';
import { formatDuration, optionWords } from '../../src/policy/text/face.ts';
import type { Fact, Told } from '../../src/policy/facts/face.ts';
import { AttemptError, type Failure, type Outcome, messageOf } from '../../src/policy/failures/face.ts';
import { inTime } from '../../src/policy/face.ts';
import { type KnownAgent, agentOf, longestAnswer } from '../../src/protocol/face.ts';
import { KnownSecrets, createTextRedactor } from '../../src/redaction/face.ts';
import { Registry, checkGatewayOptions } from '../../src/runtime/face.ts';
import { databasePath } from '../databasePath.ts';
import { errorReport } from '../errorReport.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { alertWords, namedConfig } from '../namedConfig.ts';
import { startTelemetry } from '../otel.ts';
import { createOwnLogger } from '../ownLogger.ts';
import { endedCode, exitCodeOf, exitCodes } from '../run/exitCode.ts';
import { spinningLines } from '../run/lastWords.ts';
import { type OwnOutput, ownOutput } from '../run/output.ts';
import { readPrompt } from '../run/prompt.ts';
import { sanitize, toJsonLine } from '../sanitize.ts';
import { startRegistry } from '../startRegistry.ts';
import type { AgentArgs } from './command.ts';
import { type AgentPlan, planAgent } from './plan.ts';
import { createPrinter, failureLines, type Printer, snakeCase } from './printer.ts';
import { told } from '../ownCommand.ts';

/** End of the one turn. */
interface TurnEnd {
  readonly outcome: Outcome<AgentResult>;
  /** Id of the conversation at the agent's own backend. */
  readonly id: string | undefined;
  readonly elapsedMs: number;
  readonly missed: number;
}

/** Does what `unwedge agent` was asked to do. Gives the exit code. */
export async function run(args: AgentArgs, io: Io): Promise<number> {
  try {
    return await askAndTell(args, io);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    io.stderr.write(`unwedge: ${told(errorReport(error), io)}\n`);
    return exitCodes.ownError;
  }
}

async function askAndTell(args: AgentArgs, io: Io): Promise<number> {
  const config = await namedConfig(args.config, io);
  const plan = planAgent(args, config);
  const prompt = await promptOf(plan, io.signal);
  const redactor = createTextRedactor(new KnownSecrets(io.env));
  const hide = (text: string): string => redactor.text(text);
  const own = ownOutput(process, hide);
  for (const line of alertWords(config, 'agent')) own.say(line);
  const isTerminal = io.isTTY && process.stderr.isTTY;
  const streams = args.stream || io.isTTY;
  const printer = createPrinter(own, { json: plan.json, streams, isTerminal, hide });
  const end = await ask(plan, prompt, io, own, (event) => printer.show(event), args.otel);
  const { outcome, id } = end;
  printer.end(outcome.ok ? outcome.value.text : undefined);

  const trouble = own.trouble ?? lossOf(end, streams || plan.json);
  if (trouble !== undefined) own.say(`the output is not complete: ${sanitize(trouble)}`);
  const ownCode = outcome.ok ? 0 : agentExitCode(outcome.failure);
  // Half of an answer must not pass for the whole.
  const exitCode = endedCode(io.signal) ?? (ownCode || (own.trouble && exitCodes.ownError) || 0);
  if (!outcome.ok && !io.signal.aborted) for (const line of failureLines(outcome.failure, plan)) own.say(line);
  if (printer.declined > 0 && !plan.approvesAll) own.say('what was declined is allowed with --approve all');
  const resumable = outcome.ok ? (outcome.value.id ?? id) : id;
  const isOwn = !outcome.ok || outcome.value.agent === plan.name;
  const backend = isOwn ? plan.backend : (plan.fallback ?? plan.backend);
  const named = backend === plan.backend && plan.name !== backend ? optionWords('name', plan.name) : '';
  if (plan.json) io.stdout.write(toJsonLine(report(end, exitCode, hide)));
  else if (resumable !== undefined && (outcome.ok || outcome.failure.reason !== 'not_found'))
    own.say(
      `go on with: ${io.own ?? 'unwedge'} agent --backend ${backend}${named}${optionWords('resume', resumable)} PROMPT`,
    );
  return exitCode;
}

/** Why not all of the answer was shown; undefined when it was. */
function lossOf({ outcome, missed }: TurnEnd, streams: boolean): string | undefined {
  if (streams) return missed > 0 ? `${missed} events came faster than they could be written` : undefined;
  return outcome.ok && outcome.value.text.length >= longestAnswer ? 'the answer is longer than is kept' : undefined;
}

async function promptOf({ prompt }: AgentPlan, signal: AbortSignal): Promise<string> {
  if ('text' in prompt) return prompt.text;
  const { prompt: text } = await readPrompt(prompt.file, signal);
  if (text === undefined) throw new UsageError('Expected the prompt to be UTF-8');
  if (text.trim() === '') throw new UsageError('The prompt is empty');
  return text;
}

/** Runs one conversation of one turn, on a runtime of its own. Resolves when nothing of it is left. */
async function ask(
  plan: AgentPlan,
  prompt: string,
  io: Io,
  own: OwnOutput,
  show: Printer['show'],
  isTold: boolean,
): Promise<TurnEnd> {
  const logger = createOwnLogger((line) => own.say(sanitize(line)));
  const registry = new Registry(
    checkGatewayOptions({
      store: { path: databasePath(plan.db, io.env), required: false },
      logger,
      policies: plan.policies,
    }),
    {
      records: tellsOfTrouble,
      are: 'run',
    },
  );
  const telemetry = await startTelemetry(isTold, registry, io);
  registry.runtime.bus.on('session.spinning', (fact) => {
    for (const line of spinningLines(fact)) own.say(line);
  });
  const agents: Agent[] = [];
  const supervise = async (backend: KnownAgent, more: Partial<AgentOptions>): Promise<Agent> => {
    const options = { ...(await optionsOf(plan, backend)), ...more };
    const name = backend === plan.backend ? plan.name : backend;
    const supervised = superviseAgent(registry.runtime, name, options);
    agents.push(supervised);
    return supervised;
  };
  const fallback = plan.fallback === undefined ? undefined : await supervise(plan.fallback, {});
  const agent = await supervise(plan.backend, { fallback });
  const { clock } = registry.runtime;
  await startRegistry(registry, logger);
  const startedAt = clock.now();
  try {
    const starting =
      plan.resume === undefined ? agent.start({ signal: io.signal }) : agent.resume(plan.resume, { signal: io.signal });
    const started = (await inTime(starting, { clock, limitMs: plan.overallMs })) ?? notStarted(plan);
    if (!started.ok) return { outcome: started, id: plan.resume, elapsedMs: clock.now() - startedAt, missed: 0 };
    const conversation = started.value;
    const turn = telemetry.within(() => conversation.send(prompt, { signal: io.signal, overallMs: plan.overallMs }));
    const aborted = untilAborted(io.signal);
    for await (const event of turn) {
      const shown = show(event);
      // A process that was told to end does not wait for a reader that has stopped reading.
      if (shown !== undefined) await Promise.race([shown, aborted]);
    }
    const outcome = await turn.outcome;
    const { missed } = turn;
    return { outcome, id: conversation.id, elapsedMs: clock.now() - startedAt, missed };
  } finally {
    await Promise.all(agents.map((each) => each.stop()));
    await registry.stop();
    await telemetry.end();
  }
}

/** The limit on the whole holds for the start of a program as well, which then ends with the runtime. */
function notStarted({ name, overallMs }: AgentPlan): Outcome<never> {
  const message = `${name} had not started within ${formatDuration(overallMs)}`;
  const facts = { kind: 'timeout', reason: 'overall_timeout', message, outcome: 'not_started' } as const;
  return { ok: false, failure: { ...facts, integration: name, attempts: 0, retryable: true } };
}

async function optionsOf(
  { agent, approvesAll, command, ...plan }: AgentPlan,
  backend: KnownAgent,
): Promise<AgentOptions> {
  const approve = approvesAll ? { approve: () => 'accept' as const } : {};
  const program = backend === plan.backend ? command : undefined;
  if (backend === 'claude') return { backend, ...agent, ...approve, claude: await claudeOptions(program) };
  if (backend === 'codex') return { backend, ...agent, ...approve, codex: { command: program } };
  const { model } = agent;
  if (model !== undefined) throw new UsageError(`Option --model is of no use with ${backend}: it has its own`);
  // Another program speaks the protocol as this one does.
  return { ...agent, ...approve, acp: { command: program ?? backend, args: agentOf(backend)?.acp?.args } };
}

/** The SDK where it is installed, else the program. */
async function claudeOptions(command: string | undefined): Promise<ClaudeBackendOptions> {
  if (command !== undefined) return { command };
  try {
    return { query: await importQuery() };
  } catch (error) {
    if (error instanceof AttemptError && error.facts.code === 'ENOENT') return { command: 'claude' };
    throw new CommandError(messageOf(error), { cause: error });
  }
}

const lifecycle: ReadonlySet<string> = new Set(['child.started', 'child.stopped', 'process.started']);

/** It lives in a runtime of its own, whose coming and going says nothing that the end of a failed turn does not. */
function tellsOfTrouble(fact: Told<Fact>): boolean {
  if (fact.type === 'process.exited') return fact.reason !== 'exit' && fact.reason !== 'cancelled';
  return !lifecycle.has(fact.type);
}

/** The last line of `--json`. */
function report(
  { outcome, id, elapsedMs }: TurnEnd,
  exitCode: number,
  hide: (text: string) => string,
): Record<string, unknown> {
  const common = { type: 'result', ok: outcome.ok, exit_code: exitCode, elapsed_ms: Math.round(elapsedMs) };
  if (outcome.ok) {
    const { usage, ...result } = outcome.value;
    return { ...common, ...snakeCase({ ...result, usage: usage === undefined ? undefined : snakeCase(usage) }) };
  }
  const both = failuresOf(outcome.failure);
  return {
    ...common,
    id: id ?? null,
    ...failureData(outcome.failure, hide),
    ...(both.length > 1 && { failures: both.map((each) => ({ agent: each.integration, ...failureData(each, hide) })) }),
  };
}

function failureData(failure: Failure, hide: (text: string) => string): Record<string, unknown> {
  const { kind, reason, message, attempts, retryable, retryAfterMs, outcome: effect } = failure;
  return snakeCase({ kind, reason, message: hide(message), effect, attempts, retryable, retryAfterMs });
}

/** The exit code of `unwedge agent` for a turn that failed: those of `unwedge run`, and 1 for what the agent itself failed of. */
function agentExitCode(failure: Failure): number {
  const code = exitCodeOf(failure, undefined, true);
  const isOurs = code !== exitCodes.cannotRun && code !== exitCodes.notFound;
  return isOurs || failure.kind === 'spawn' ? code : 1;
}
