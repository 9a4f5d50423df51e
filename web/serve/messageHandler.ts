import type { Gateway } from '../../src/gateway/face.ts';
import type { McpIntegration } from '../../src/integrations/mcp/face.ts';
import { AttemptError } from '../../src/policy/failures/face.ts';
import type { HistoryEntry, Message, MessageHandler, ToolResult, Turn } from '../../src/sessions/face.ts';
import { type AgentAnswer, type AgentQuestion, askTool, turnsOf } from './agentTurns.ts';
import type { servedHookEvents } from './serveTypes.ts';

/** Result of a message: what its tool or its agent answered. */
export type MessageResult = ToolResult;

/** Before the words of the hook in the failure of a message that a hook declined. The record keeps it, for whoever asks later. */
export const declinedBy = 'A hook declined it: ';

interface MessageHandlerParts {
  readonly gateway: Pick<Gateway, 'runHooks'>;
  readonly servers: ReadonlyMap<string, Pick<McpIntegration, 'tools'>>;
  /** The first is asked where nothing says which. */
  readonly agents: readonly string[];
  readonly historyOf: (session: string) => readonly HistoryEntry[];
}

/** Answers the messages of the sessions that are served: a tool is called, or an agent is asked, each as a call that the ledger keeps. */
export function createMessageHandler(parts: MessageHandlerParts): MessageHandler<MessageResult | undefined> {
  const { gateway, servers, agents, historyOf } = parts;
  const guard = async (
    event: (typeof servedHookEvents)[number],
    action: string,
    { session }: Turn,
    payload: unknown,
  ): Promise<void> => {
    const { decision, reason = `no reason is given by that of ${event}` } = await gateway.runHooks({
      ...{ event, action, session, payload },
    });
    if (decision === 'continue') return;
    throw new AttemptError({ kind: 'cancelled', message: `${declinedBy}${reason}`, outcome: 'not_started' });
  };

  return async (message, turn) => {
    if (message.kind === 'tool') return callTool(message, turn);
    if (message.kind === 'user') return askAgent(message, turn);
    return undefined;
  };

  async function callTool(message: Message, turn: Turn): Promise<MessageResult> {
    const { server, name, arguments: input } = toolMessageIn(message);
    const payload = { tool_name: `mcp__${server}__${name}`, tool_input: input };
    await guard('PreToolUse', payload.tool_name, turn, payload);
    // Its server says which of its tools change nothing.
    if (turn.delivery > 1) await servers.get(server)?.tools({ signal: turn.signal });
    const result = await turn.tool(server, name, input, { once: true });
    // A hook of what was done can only tell: it is done.
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
    await guard('UserPromptSubmit', '', turn, { prompt: text });
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
export function answersIn(history: readonly HistoryEntry[]): readonly (AgentAnswer & { readonly asked: string })[] {
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

/** A message for an agent, as it is kept. */
interface UserMessage {
  readonly text: string;
  /** @defaultValue the one that was asked last, else the first that is configured */
  readonly agent?: string | undefined;
}

/** A message that has a tool called, as it is kept. */
interface ToolMessage {
  readonly server: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export const userMessage = ({ text, agent }: UserMessage): Message => ({
  kind: 'user',
  text,
  ...(agent !== undefined && { data: { agent } }),
});

export const toolMessage = (tool: ToolMessage): Message => ({ kind: 'tool', data: tool });

/** @throws TypeError for a message of another making. */
function toolMessageIn({ data }: Message): ToolMessage {
  const { server, name, arguments: given } = (data ?? {}) as Partial<ToolMessage>;
  if (typeof server !== 'string' || typeof name !== 'string' || typeof given !== 'object' || given === null)
    throw new TypeError('The message says no tool: it was not sent by this program');
  return { server, name, arguments: given };
}

/** The agent that a message is for, where it says one. */
function agentIn({ data }: Message): string | undefined {
  const agent = (data as { agent?: unknown } | null | undefined)?.agent;
  return typeof agent === 'string' ? agent : undefined;
}
