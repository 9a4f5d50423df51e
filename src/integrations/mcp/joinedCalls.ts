import type { CallToolResult } from '@modelcontextprotocol/client';
import type { McpRequestContext } from '../../actors/mcp/mcpClient.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import { canonicalJson } from '../../policy/text/canonicalJson.ts';
import type { Tools } from '../../policy/toolOptions.ts';
import type { McpToolRequest } from './mcpIntegration.ts';

type Work = (context: McpRequestContext & Pick<AttemptContext, 'call'>) => Promise<CallToolResult>;

/** One request for several calls. */
interface Joint {
  /** Count of ends as of which it began. */
  readonly since: number;
  readonly members: Set<AttemptContext>;
  readonly result: Promise<CallToolResult>;
  readonly work: AbortController;
}

/** Equal reads of one session that are under way, as one request: by the word of the operator alone. */
export class JoinedCalls {
  readonly #tools: Tools;
  readonly #open = new Map<string, Joint>();
  /** Calls that may have had effects and have ended: nothing joins what began before one of them. */
  #ends = 0;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** Does the work of a call, or waits for that of an equal one. Rejects with the reason of its signal when that is aborted. */
  async call(request: McpToolRequest, context: AttemptContext, isRead: boolean, work: Work): Promise<CallToolResult> {
    const { session } = (context.call as { readonly settings: { readonly session?: string } }).settings;
    const isJoined = session !== undefined && this.#tools.get(request.name)?.join === true;
    const key = isJoined ? canonicalJson([session, request]) : undefined;
    if (key !== undefined) return this.#join(key, context, work);
    try {
      return await work(context);
    } finally {
      if (!isRead) this.#ends++;
    }
  }

  #join(key: string, context: AttemptContext, work: Work): Promise<CallToolResult> {
    const known = this.#open.get(key);
    const joint = known?.since === this.#ends && !known.work.signal.aborted ? known : this.#begin(key, context, work);
    joint.members.add(context);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        joint.members.delete(context);
        // The last one that gives up cancels it.
        if (joint.members.size === 0) joint.work.abort(context.signal.reason);
        reject(context.signal.reason);
      };
      context.signal.addEventListener('abort', leave, { once: true });
      joint.result.then(resolve, reject).finally(() => context.signal.removeEventListener('abort', leave));
    });
  }

  #begin(key: string, context: AttemptContext, work: Work): Joint {
    const members = new Set<AttemptContext>();
    const controller = new AbortController();
    const touch = (): void => {
      for (const member of members) member.touch();
    };
    const { call, traceContext } = context;
    const result = work({ call, traceContext, signal: controller.signal, touch });
    const joint: Joint = { since: this.#ends, members, result, work: controller };
    this.#open.set(key, joint);
    const over = (): void => {
      if (this.#open.get(key) === joint) this.#open.delete(key);
    };
    joint.result.then(over, over);
    return joint;
  }
}
