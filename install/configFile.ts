import type { Format } from './document.ts';

/** The programs whose configuration is known. */
export const agentNames = [
  'claude',
  'claude-desktop',
  'codex',
  'cursor',
  'vscode',
  'copilot',
  'gemini',
  'opencode',
  'goose',
  'openclaw',
  'zed',
  'jetbrains',
  'acpx',
] as const;
export type AgentName = (typeof agentNames)[number];

/** Owner of a file: the user, the user for one project, or all who work on the project. */
export type Scope = 'user' | 'local' | 'project';

/** Shape of the hooks below their event: in groups with a matcher, or one after the other. */
export type HookShape = 'grouped' | 'flat';

/** The field of a server's command, where it is not `command`; `isList`: its arguments are in the same list. */
interface CommandField {
  readonly key: string;
  readonly isList?: boolean;
}

/** A number at the top level of a TOML file that an agent needs once unwedge stands in front of its servers. */
export interface FileSetting {
  readonly key: string;
  /** It is written where there is none, or a smaller one. */
  readonly value: number;
  /** Reason for it: what the agent does by it. */
  readonly why: string;
}

/** A configuration file that may be there. */
export interface ConfigFile {
  readonly agent: AgentName;
  readonly path: string;
  readonly scope: Scope;
  readonly format: Format;
  /** Paths of the tables of servers; `*` stands for any key. */
  readonly servers: readonly (readonly string[])[];
  readonly command?: CommandField | undefined;
  /** Table of agents that speak the Agent Client Protocol; `areLines`: a command without arguments is split into words. Undefined: it has none. */
  readonly agents?: { readonly path: readonly string[]; readonly areLines?: boolean } | undefined;
  /** Undefined: it has no hooks. */
  readonly hooks?: HookShape | undefined;
  /** Setting that it needs once servers of it are behind unwedge. */
  readonly setting?: FileSetting | undefined;
  /** The program locks it with a directory of this name while it writes it. */
  readonly lock?: string | undefined;
}
