import type { Gateway } from '../gateway/gatewayTypes.ts';
import type { HistoryEntry } from '../sessions/history.ts';
import type { Message } from '../sessions/mailbox.ts';
import type { MessageHandler } from '../sessions/sessionOptions.ts';
import type { ToolResult } from '../sessions/toolResult.ts';
import type { Turn } from '../sessions/turn.ts';
import { type AgentAnswer, type AgentQuestion, askTool, turnsOf } from './agentTurns.ts';
import { agentIn, toolMessageIn } from './messageForms.ts';
import type { servedHookEvents } from './serveTypes.ts';

/** A guard has said no. */
export interface Declined {
  readonly status: 'declined';
  /** In the words of the hook. */
  readonly error: string;
}

/** What a message ends with: what its tool or its agent answered, or that a hook declined it. */
export type MessageResult = ToolResult | Declined;

export interface MessageHandlerParts {
  readonly gateway: Pick<Gateway, 'runHooks'>;
  /** The first is asked where nothing says which. */
  readonly agents: readonly string[];
  readonly historyOf: (session: string) => readonly HistoryEntry[];
}

/** Answers the messages of the sessions that are served: a tool is called, or an agent is asked, each as a call that the ledger keeps. */
export function createMessageHandler(parts: MessageHandlerParts): MessageHandler<MessageResult | undefined> {
  const { gateway, agents, historyOf } = parts;
  const guard = async (
    event: (typeof servedHookEvents)[number],
    action: string,
    { session }: Turn,
    payload: unknown,
  ): Promise<Declined | undefined> => {
    const { decision, reason } = await gateway.runHooks({ event, action, session, payload });
    if (decision === 'continue') return undefined;
    return { status: 'declined', error: reason ?? `A hook of ${event} declined it.` };
  };

  return async (message, turn) => {
    if (message.kind === 'tool') return callTool(message, turn);
    if (message.kind === 'user') return askAgent(message, turn);
    return undefined;
  };

  async function callTool(message: Message, turn: Turn): Promise<MessageResult> {
    const { server, name, arguments: input } = toolMessageIn(message);
    const payload = { tool_name: `mcp__${server}__${name}`, tool_input: input };
    const declined = await guard('PreToolUse', payload.tool_name, turn, payload);
    if (declined !== undefined) return declined;
    const result = await turn.tool(server, name, input);
    // What was done is done: a hook of it can only tell.
    await gateway.runHooks({
      event: 'PostToolUse',
      action: payload.tool_name,
      session: turn.session,
      payload: { ...payload, tool_response: result },
    });
    return result;
  }

  async function askAgent(message: Message, turn: Turn): Promise<MessageResult> {
    const { text = '' } = message;
    const declined = await guard('UserPromptSubmit', '', turn, { prompt: text });
    if (declined !== undefined) return declined;
    const answers = answersIn(historyOf(turn.session));
    const agent = agentIn(message) ?? answers.at(-1)?.asked ?? agents[0];
    if (agent === undefined || !agents.includes(agent))
      throw new RangeError(`No agent \`${agent ?? ''}\` is configured; known: ${agents.join(', ') || 'none'}`);
    const question: AgentQuestion = {
      session: turn.session,
      text: turn.delivery > 1 ? `${text}\n\n${cutOff}` : text,
      conversation: answers.findLast((answer) => answer.asked === agent && answer.conversation !== undefined)
        ?.conversation,
    };
    return turn.tool(turnsOf(agent), askTool, question);
  }
}

/** An agent whose answer was cut may have acted: it alone can look. */
const cutOff =
  '[This message was answered before, and the answer was cut off: the program that runs you had ended. Look at what is done already before you do anything.]';

/** The answers of agents in a history, oldest first, with the agent that was asked: another may have gone on for it. */
function answersIn(history: readonly HistoryEntry[]): readonly (AgentAnswer & { readonly asked: string })[] {
  const asked = new Map<string, string>();
  const answers: (AgentAnswer & { asked: string })[] = [];
  for (const entry of history) {
    if (entry.type === 'tool_call' && entry.integration.startsWith('turn:'))
      asked.set(entry.call, entry.integration.slice('turn:'.length));
    if (entry.type !== 'tool_result' || entry.result.status !== 'ok') continue;
    const agent = asked.get(entry.call);
    if (agent !== undefined) answers.push({ ...(entry.result.value as AgentAnswer), asked: agent });
  }
  return answers;
}
