import type { FailureKind } from '../failures/failure.ts';

/** Facts of MCP servers. */
export interface McpFacts {
  /** A proxy's new server was brought to where the old one was; `changed` names what it says of itself otherwise than that. */
  'mcp.server_replayed': {
    integration: string;
    era: 'legacy' | 'modern';
    /** Requests that brought log level and subscriptions back. */
    restored: number;
    changed?: string | undefined;
    elapsedMs: number;
  };
  /** Calls through a proxy went with its server, or found it hung: so many (`calls`) were answered as lost or given up by their client, so many are sent again. */
  'mcp.calls_lost': {
    integration: string;
    lost: number;
    repeated: number;
    calls?: string | undefined;
    repeatedCalls?: string | undefined;
    message: string;
  };
  /** A proxy's new server has other lists than the client was given, and the client was told. */
  'mcp.lists_changed': { integration: string; lists: string };
  /** A call of a tool of an MCP server failed: the tool said so, the server broke the protocol, hung or died. */
  'mcp.tool_failed': {
    /** Name that the client has for it; of the server itself, its own. */
    integration: string;
    tool: string;
    input: unknown;
    error: string;
    stack?: string | undefined;
    /** Kind for a call from this side. */
    kind?: FailureKind | undefined;
    reason?: string | undefined;
    /** Attempts beyond the first. */
    retries?: number | undefined;
    /** The call, as its other facts name it; undefined through a proxy. */
    call?: string | undefined;
    /** Session of the call, where it is of one. */
    session?: string | undefined;
  };
  /** An MCP server lists other tools than before, after a restart or because it said so. At most 100 names each. */
  'mcp.tools_changed': {
    integration: string;
    added: readonly string[];
    removed: readonly string[];
    changed: readonly string[];
  };
  /** A tool is other than when it was first seen, or accepted: these parts of its definition, none where it is new and `pin` holds it. Once for all processes. */
  'mcp.tool_changed': {
    integration: string;
    tool: string;
    parts: readonly string[];
    held: boolean;
    message: string;
  };
  /** A tool or prompt is not listed under the name `as` that it has behind a proxy or by a rule: that is too long, or the name of another (`of`). */
  'mcp.left_out': {
    integration: string;
    what: 'tool' | 'prompt';
    name: string;
    as: string;
    reason: 'too_long' | 'taken';
    /** The server whose name it is, or the tool. */
    of?: string | undefined;
  };
  /** A large result of a tool could not be kept, as the disk is full or cannot be written: it was told whole. */
  'mcp.result_not_kept': { integration: string; tool?: string | undefined; message: string };
  /** A server behind a proxy floods its stdout with what is no message: so many lines, and bytes of them and of lines that were cut, were left out at first. Told again once 10 s were without. */
  'mcp.stray_output': { integration: string; lines: number; bytes: number };
  /** A proxy over HTTP did not serve requests: so many since it was last told of this status. At most once a minute each. */
  'mcp.http_refused': { server: string; status: number; requests: number };
}
