import type { Readable, Writable } from 'node:stream';

/**
 * Parts of the Claude Agent SDK that are used, by shape alone: the package is large, optional, and only imported where it is there. Parameters are methods'
 * so that the package's own, narrower types fit.
 */

/** A message of the SDK's stream; all of its kinds, also those to come. */
export type SdkMessage = Readonly<Record<string, unknown>>;

/** Message of ours to the SDK. */
export interface SdkUserMessage {
  readonly type: 'user';
  readonly message: { readonly role: 'user'; readonly content: string };
  readonly parent_tool_use_id: null;
  readonly uuid: `${string}-${string}-${string}-${string}-${string}`;
}

/** Options by which the SDK asks for a process. */
export interface SdkSpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

export type SdkExitListener = (code: number | null, signal: NodeJS.Signals | null) => void;
export type SdkErrorListener = (error: Error) => void;

/** The process as the SDK sees it: what it needs of a `ChildProcess`. */
export interface SdkProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
  on(event: 'exit' | 'error', listener: SdkExitListener | SdkErrorListener): void;
  once(event: 'exit' | 'error', listener: SdkExitListener | SdkErrorListener): void;
  off(event: 'exit' | 'error', listener: SdkExitListener | SdkErrorListener): void;
}

/** Answer to the use of a tool. */
export type SdkPermission =
  | { readonly behavior: 'allow'; readonly updatedInput?: Record<string, unknown> | undefined }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean | undefined };

/** Context of a question of the SDK; `toolUseID` names the use, `signal` aborts when the answer is of no use any more. */
export interface SdkPermissionContext {
  readonly signal: AbortSignal;
  readonly toolUseID?: string | undefined;
}

/** Options for `query()`; those of the package pass as they are. */
export type SdkOptions = Readonly<Record<string, unknown>>;

/** A running query: its messages, and the orders it takes. */
export interface SdkQuery extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>;
  close?(): void;
}

interface SdkFunctions {
  query(params: {
    readonly prompt: AsyncIterable<SdkUserMessage>;
    readonly options?: Record<string, unknown>;
  }): SdkQuery;
  canUseTool(tool: string, input: Record<string, unknown>, context: SdkPermissionContext): PromiseLike<unknown>;
}

/** `query` of `@anthropic-ai/claude-agent-sdk`, or something that behaves like it. */
export type SdkQueryFunction = SdkFunctions['query'];
/** The SDK's option `canUseTool`. */
export type SdkCanUseTool = SdkFunctions['canUseTool'];
