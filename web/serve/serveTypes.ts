import type { AgentOptions } from '../../agents/conversation/agentTypes.ts';
import type { HookCommand, HookOptions } from '../../src/integrations/hooks/face.ts';
import type { McpIntegrationOptions, RemoteMcpOptions } from '../../src/integrations/mcp/face.ts';

/** Before the ids of sessions that are served: a database may hold those of other gateways, which are not to be taken from them. */
export const sessionPrefix = 'serve:';

/** An agent as a file has it: what it is allowed and who goes on for it are said by name. */
export interface ServedAgent extends Omit<AgentOptions, 'approve' | 'approvalMs' | 'fallback'> {
  /** Tools that it may use without being asked about; each other one that asks is declined. @defaultValue [] */
  readonly approve?: readonly string[] | undefined;
  /** Name of the agent that goes on when this one cannot answer. @defaultValue none */
  readonly fallback?: string | undefined;
}

/** A hook as a file has it: a command and how it is supervised. */
export interface ServedHook extends HookCommand, Pick<HookOptions, 'name' | 'onFailure' | 'overallMs'> {}

/** Things that are served beside the options of their gateway. */
export interface Served {
  readonly servers: Readonly<Record<string, McpIntegrationOptions | RemoteMcpOptions>>;
  readonly agents: Readonly<Record<string, ServedAgent>>;
  /** By their event: `UserPromptSubmit`, `PreToolUse`, `PostToolUse`. */
  readonly hooks: Readonly<Record<string, readonly ServedHook[]>>;
}

/** Events of which hooks can be served. */
export const servedHookEvents = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse'] as const;
