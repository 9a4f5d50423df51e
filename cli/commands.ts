import type { Command } from './command.ts';
import { unknown, UsageError } from './errors.ts';
import { quoted } from './sanitize.ts';

interface Entry {
  readonly summary: string;
  load(): Promise<Command>;
}

/** Every command, loaded when it is asked for. */
export const commands: Readonly<Record<string, Entry>> = {
  agent: {
    summary: 'ask Claude or Codex once, under supervision, and watch it work',
    load: async () => (await import('./agent/command.ts')).agent,
  },
  alerts: {
    summary: 'which integrations fail so often that somebody should look, and which did',
    load: async () => (await import('./alerts.ts')).alerts,
  },
  api: {
    summary: 'stand between agents and the API of their model, so that no stream hangs',
    load: async () => (await import('./api/command.ts')).api,
  },
  cancel: {
    summary: 'end a pending call of a session, or its turn; or have a call not be tried again',
    load: async () => (await import('./cancel.ts')).cancel,
  },
  cluster: {
    summary: 'the gateways that share a PostgreSQL database: what each owns, and what waits for whom',
    load: async () => (await import('./cluster.ts')).cluster,
  },
  completion: {
    summary: 'let bash, zsh or fish complete commands, options, values and names',
    load: async () => (await import('./completion/command.ts')).completion,
  },
  config: {
    summary: 'what is configured, where each value comes from, and what is wrong with a file',
    load: async () => (await import('./config/command.ts')).config,
  },
  dashboard: {
    summary: 'health, waits, circuits, sessions and events of all gateways on a database, in a browser',
    load: async () => (await import('./dashboard/command.ts')).dashboard,
  },
  demo: {
    summary: 'crash, hang and throttle real counterparties and watch every call end',
    load: async () => (await import('./demoCommand.ts')).demo,
  },
  doctor: {
    summary: 'what is wrong with this installation and what agents have configured, and the fix',
    load: async () => (await import('./doctor/command.ts')).doctor,
  },
  events: {
    summary: 'what was recorded: failures, crashes, restarts, sessions',
    load: async () => (await import('./events.ts')).events,
  },
  hook: {
    summary: 'run a hook command so that its crash or hang cannot wedge the agent',
    load: async () => (await import('./hook/command.ts')).hook,
  },
  incident: {
    summary: 'what happened around a session or a call, in a folder to take home and replay',
    load: async () => (await import('./incident.ts')).incident,
  },
  inspect: {
    summary: 'watch the machines of a running gateway: live charts, events and actors in a browser',
    load: async () => (await import('./inspect/command.ts')).inspect,
  },
  install: {
    summary: 'put unwedge in front of the MCP servers and hooks that an agent has configured',
    load: async () => (await import('./install/command.ts')).install,
  },
  letters: {
    summary: 'dead letters: messages that sessions do not deliver any more; send them again or drop them',
    load: async () => (await import('./letters.ts')).letters,
  },
  machines: {
    summary: 'the statecharts of the runtime, drawn from the machines that run',
    load: async () => (await import('./machines.ts')).machines,
  },
  mcp: {
    summary: 'stand between a client and its MCP server, and keep the server alive',
    load: async () => (await import('./mcp/command.ts')).mcp,
  },
  'mcp-self': {
    summary: 'an MCP server for agents: what is stuck, and when it ends',
    load: async () => (await import('./mcpSelf/command.ts')).mcpSelf,
  },
  metrics: {
    summary: 'figures of every integration as Prometheus reads them',
    load: async () => (await import('./metrics.ts')).metrics,
  },
  migrate: {
    summary: 'move the database of a gateway from a file to PostgreSQL, where several gateways share it',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  probe: {
    summary: 'have an open circuit, or a server that asked not to be called, tried now',
    load: async () => (await import('./probe.ts')).probe,
  },
  repair: {
    summary: 'make a transcript well-formed: every tool call has exactly one result',
    load: async () => (await import('./repair/command.ts')).repair,
  },
  replay: {
    summary: 'play an incident on a simulated clock, and say whether it ends as it did',
    load: async () => (await import('./replay.ts')).replay,
  },
  report: {
    summary: 'how well each integration works: success rate, kinds of failure, latency',
    load: async () => (await import('./report.ts')).report,
  },
  restart: {
    summary: 'restart what is behind an integration, or a session, of a running gateway or proxy',
    load: async () => (await import('./restart.ts')).restart,
  },
  run: {
    summary: 'run a command under limits, with retries and a circuit breaker',
    load: async () => (await import('./run/command.ts')).run,
  },
  serve: {
    summary: 'run a gateway: sessions by HTTP over MCP servers, agents and hooks, with the dashboard',
    load: async () => (await import('./serve/command.ts')).serve,
  },
  status: {
    summary: 'each integration with its circuit, failures and last error',
    load: async () => (await import('./status.ts')).status,
  },
  version: {
    summary: 'versions of unwedge, Node and SQLite, for a report of a bug',
    load: async () => (await import('./version.ts')).version,
  },
  why: {
    summary: 'what a session waits for, and which rule will end it when',
    load: async () => (await import('./why.ts')).why,
  },
};

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
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const meant = synonyms.get(name);
  if (entry === undefined && meant !== undefined)
    throw new UsageError(`Unknown command ${quoted(name)}; did you mean ${meant}?`);
  if (entry === undefined) throw unknown('command', name, Object.keys(commands), 'unwedge --help');
  return entry.load();
}
