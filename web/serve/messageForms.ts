import type { Message } from '../../src/sessions/mailbox.ts';

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
export function toolMessageIn({ data }: Message): ToolMessage {
  const { server, name, arguments: given } = (data ?? {}) as Partial<ToolMessage>;
  if (typeof server !== 'string' || typeof name !== 'string' || typeof given !== 'object' || given === null)
    throw new TypeError('The message says no tool: it was not sent by this program');
  return { server, name, arguments: given };
}

/** The agent that a message is for, where it says one. */
export function agentIn({ data }: Message): string | undefined {
  const agent = (data as { agent?: unknown } | null | undefined)?.agent;
  return typeof agent === 'string' ? agent : undefined;
}
