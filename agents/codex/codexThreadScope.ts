import type { CodexCalls } from './codexCalls.ts';
import type { LiveConnection } from './codexLive.ts';
import type { RunRequest } from './codexRequests.ts';
import type { CodexScope } from './codexScope.ts';
import type { ThreadState } from './codexThreadState.ts';

/** Scope that all turns of one thread share. */
export interface ThreadScope {
  readonly codex: CodexScope;
  readonly calls: CodexCalls;
  readonly run: RunRequest;
  /** The connection that the thread was begun or resumed on. */
  readonly live: LiveConnection;
  readonly state: ThreadState;
}
