import type { AgentName } from '../../install/configFile.ts';
import type { EntryKind } from '../../install/entry.ts';
import type { McpFault, ModelAnswer } from '../../testing/index.ts';

/** A server, hook or agent that is drilled, as it is configured; times are in ms. */
export interface Target {
  readonly kind: EntryKind;
  readonly name: string;
  /** Owner of the entry, as people call it; `client`: as `install` calls that. */
  readonly owner: string;
  readonly client?: AgentName | undefined;
  readonly file: string;
  /** Command of unwedge in front of it; undefined: there is none. */
  readonly front?: { readonly verb: string; readonly options: readonly string[] } | undefined;
  /** The program; empty of a server elsewhere. */
  readonly words: readonly string[];
  readonly url?: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly event?: string | undefined;
  /** True where a hook that fails declines; undefined: nobody has said. */
  readonly guards?: boolean | undefined;
  /** Time that its client waits; undefined: that says nothing. */
  readonly clientMs?: number | undefined;
  /** Limit that ends it, in ms; for a server the longest that a call takes behind unwedge. */
  readonly limitMs?: number | undefined;
  /** Tools that were declared to change nothing. */
  readonly reads: readonly string[] | 'all';
  /** Wall time at which a kept sign-in ends that nothing renews, in ms since the epoch. */
  readonly signInEnds?: number | undefined;
  /** Policies of a configuration of ours, for its copy. */
  readonly policies?: object | undefined;
}

/** End of a call as an agent, or the client of a hook, saw it. */
export type Got = 'answer' | 'error' | 'nothing' | 'declined' | 'allowed';

/**
 * A fault, and what must be seen, else an answer or an error; of a hook, that a guard declines and others allow.
 * `act` is done to the first call of a server, `code` stands in for a hook, `model` answers an agent.
 */
export interface Row {
  readonly on: EntryKind;
  readonly fault: string;
  readonly act?: McpFault;
  readonly code?: string;
  readonly model?: readonly ModelAnswer[];
  readonly must?: Got;
}

/** All that is drilled, in the order in which it is told; the first of each shows that it works. */
export const rows: readonly Row[] = [
  { on: 'server', fault: 'none', must: 'answer' },
  { on: 'server', fault: 'killed', act: { do: 'crash', signal: 'SIGKILL' } },
  { on: 'server', fault: 'silent', act: { do: 'hang', scope: 'server' } },
  { on: 'server', fault: 'slow', act: { do: 'slow', ms: 1500 }, must: 'answer' },
  { on: 'server', fault: 'flood', act: { do: 'noise', text: 'x'.repeat(1000), times: 10_000 } },
  { on: 'server', fault: 'half', act: { do: 'partial_line' } },
  { on: 'server', fault: '429', act: { do: 'tool_error', texts: ['429 Too Many Requests, retry after 1s'] } },
  { on: 'server', fault: 'sign-in', act: { do: 'tool_error', texts: ['401 Unauthorized'] } },
  { on: 'hook', fault: 'none' },
  { on: 'hook', fault: 'killed', code: "process.kill(process.pid, 'SIGKILL')" },
  { on: 'hook', fault: 'silent', code: 'setInterval(() => 0, 1000)' },
  { on: 'hook', fault: 'fails', code: 'process.exit(1)' },
  { on: 'hook', fault: 'flood', code: "process.stdout.write('x'.repeat(2e7))" },
  { on: 'hook', fault: 'half', code: `process.stdout.write('{"decision":"blo')` },
  { on: 'agent', fault: 'none', model: [{}], must: 'answer' },
  { on: 'agent', fault: 'killed', model: [{ do: 'hang' }] },
  { on: 'agent', fault: 'silent', model: [{ do: 'hang' }], must: 'error' },
  { on: 'agent', fault: 'slow', model: [{ dripMs: 200 }], must: 'answer' },
  { on: 'agent', fault: 'flood', model: [{ text: 'x'.repeat(1_000_000) }] },
  { on: 'agent', fault: 'half', model: [{ until: 'text', then: 'close' }], must: 'error' },
  { on: 'agent', fault: '429', model: [{ do: 'refuse', status: 429 }, {}] },
  { on: 'agent', fault: 'sign-in', model: [{ do: 'refuse', status: 401 }], must: 'error' },
];
