import type { Command, Form, OptionSpecs, Unlisted } from './command.ts';
import { unknown, UsageError } from './errors.ts';
import { quoted } from './sanitize.ts';

/** Every command, and its purpose in half a line. */
export const commands: Readonly<Record<string, string>> = {
  accept: 'tools of an MCP server that changed, or are new: see how, and accept them',
  acp: 'stand between an editor and its agent, so that every prompt ends',
  agent: 'ask Claude, Codex, goose or another agent once, and watch it work',
  alerts: 'which integrations fail so often that somebody should look, and which did',
  api: 'stand between agents and the API of their model: no stream hangs',
  budget: 'what was spent of the budget of a session, an integration, a proxy or a run; or raise it',
  cancel: 'end a pending call of a session, or its turn; or have a call not be tried again',
  cluster: 'the gateways that share a PostgreSQL database: what each owns, and what waits for whom',
  completion: 'let bash, zsh or fish complete commands, options, values and names',
  config: 'what is configured, where each value comes from, and what is wrong with a file',
  dashboard: 'health, waits, circuits and sessions of all gateways, in a browser',
  demo: 'crash, hang and throttle real counterparties: every call ends',
  doctor: 'what is wrong here and in what agents have configured, and the fix',
  drill: 'put faults before what you have configured: what an agent would see',
  events: 'what was recorded: failures, crashes, restarts, sessions',
  forget: 'erase all that is kept of a session',
  hook: 'run a hook so that its crash or hang cannot wedge the agent',
  inbox: 'questions that wait for a person, and their answers',
  incident: 'what happened around a session or a call, in a folder to take home and replay',
  inspect: 'watch the machines of a running gateway: live charts, events and actors in a browser',
  install: 'put unwedge in front of what agents and editors have configured',
  letters: 'dead letters: messages that sessions do not deliver any more; send them again or drop them',
  machines: 'the statecharts of the runtime, drawn from the machines that run',
  mcp: 'stand between a client and its MCP server, and keep it alive',
  'mcp-self': 'an MCP server for agents: what is stuck, and when it ends',
  metrics: 'figures of every integration as Prometheus reads them',
  migrate: 'move the database of a gateway from a file to PostgreSQL, where several gateways share it',
  probe: 'have an open circuit, or a server that asked not to be called, tried now',
  repair: 'make a transcript well-formed: every tool call has exactly one result',
  replay: 'play an incident on a simulated clock, and say whether it ends as it did',
  report: 'how well each integration works: success rate, kinds of failure, latency',
  restart: 'restart what is behind an integration, or a session, of a running gateway or proxy',
  run: 'run a command under limits, with retries and a circuit breaker',
  serve: 'run a gateway: sessions by HTTP over MCP servers and agents',
  status: 'each integration with its circuit, failures and last error',
  version: 'versions of unwedge, Node and SQLite, for a report of a bug',
  why: 'what a session waits for, and which rule will end it when',
};

/** Each command is loaded when it is asked for: its form, and what does its work when it runs. */
const sources: Readonly<Record<string, () => Promise<{ readonly command: Unlisted }>>> = {
  accept: () => import('./accept.ts'),
  acp: () => import('./acp/command.ts'),
  agent: inParts(
    () => import('./agent/command.ts'),
    () => import('./agent/agentCommand.ts'),
  ),
  alerts: () => import('./alerts.ts'),
  api: inParts(
    () => import('./api/command.ts'),
    () => import('./api/apiCommand.ts'),
  ),
  budget: () => import('./budget.ts'),
  cancel: () => import('./cancel.ts'),
  cluster: () => import('./cluster.ts'),
  completion: () => import('./completion/command.ts'),
  config: inParts(
    () => import('./config/command.ts'),
    () => import('./config/configCommand.ts'),
  ),
  dashboard: inParts(
    () => import('./dashboard/command.ts'),
    () => import('./dashboard/dashboardCommand.ts'),
  ),
  demo: inParts(
    () => import('./demoCommand.ts'),
    () => import('./demo.ts'),
  ),
  doctor: inParts(
    () => import('./doctor/command.ts'),
    () => import('./doctor/doctorCommand.ts'),
  ),
  drill: inParts(
    () => import('./drill/command.ts'),
    () => import('./drill/drillCommand.ts'),
  ),
  events: () => import('./events.ts'),
  forget: () => import('./forget.ts'),
  hook: () => import('./hook/command.ts'),
  inbox: () => import('./inbox.ts'),
  incident: () => import('./incident.ts'),
  inspect: inParts(
    () => import('./inspect/command.ts'),
    () => import('./inspect/inspect.ts'),
  ),
  install: inParts(
    () => import('./install/command.ts'),
    () => import('./install/installCommand.ts'),
  ),
  letters: () => import('./letters.ts'),
  machines: () => import('./machines.ts'),
  mcp: () => import('./mcp/command.ts'),
  'mcp-self': () => import('./mcpSelf/command.ts'),
  metrics: () => import('./metrics.ts'),
  migrate: () => import('./migrate.ts'),
  probe: () => import('./probe.ts'),
  repair: () => import('./repair/command.ts'),
  replay: () => import('./replay.ts'),
  report: () => import('./report.ts'),
  restart: () => import('./restart.ts'),
  run: inParts(
    () => import('./run/command.ts'),
    () => import('./run/runCommand.ts'),
  ),
  serve: inParts(
    () => import('./serve/command.ts'),
    () => import('./serve/serveCommand.ts'),
  ),
  status: () => import('./status.ts'),
  version: () => import('./version.ts'),
  why: () => import('./why.ts'),
};

/** A command whose work is loaded only when it runs: asking for its help loads no runtime. */
function inParts<O extends OptionSpecs>(
  form: () => Promise<{ readonly form: Form<O> }>,
  work: () => Promise<Pick<Command<O>, 'run'>>,
): (typeof sources)[string] {
  return async () => {
    const command: Unlisted<O> = {
      ...(await form()).form,
      run: async (args, io, rest) => (await work()).run(args, io, rest),
    };
    return { command };
  };
}

/** Words of other tools, by the command that does it here: none is spelt like it. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['log', 'events'],
  ['logs', 'events'],
  ['ps', 'status'],
  ['list', 'status'],
  ['ls', 'status'],
]);

/** @throws UsageError that names the command that may have been meant. */
export async function loadCommand(name: string): Promise<Command> {
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  const meant = synonyms.get(name);
  if (source === undefined && meant !== undefined)
    throw new UsageError(`Unknown command ${quoted(name)}; did you mean ${meant}?`);
  if (source === undefined) throw unknown('command', name, Object.keys(commands), 'unwedge --help');
  return { name, summary: commands[name] ?? '', ...(await source()).command };
}
