import { type RpcError, rpcErrors } from '../src/protocol/face.ts';
import type { AnswerFault, AskedMethod } from './mcpAnswerFaults.ts';
import type { FaultyTool } from './mcpFaults.ts';

/** A message of the client, as far as it is looked at. */
export interface ClientMessage {
  /** Absent in a notification. */
  readonly id?: string | number | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export type Answer = { readonly result: object } | { readonly error: RpcError };

/** Answers of a server that does nothing wrong. */
export interface GoodAnswers {
  answer(message: ClientMessage): Answer;
  /** Lists these from now on, and whatever the rules befall. */
  setTools(tools: readonly FaultyTool[]): void;
}

/** Identity that a server tells of itself. */
export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string | undefined;
  /** @defaultValue tools that change, and logging */
  readonly capabilities?: object | undefined;
}

const mostReceived = 1000;

/** @param ruleTools - tools that rules name. */
export function createGoodAnswers(
  identity: ServerIdentity,
  tools: readonly FaultyTool[],
  ruleTools: readonly string[],
): GoodAnswers {
  const received: object[] = [];
  let listed = withRuleTools(tools, ruleTools);

  const call = ({ name, arguments: given = {} }: Readonly<Record<string, unknown>>): object => {
    if (name === 'received') return textResult(JSON.stringify(received));
    if (name === 'environment') return textResult(process.env[String(nameIn(given))] ?? 'unset');
    if (listed.every((tool) => tool.name !== name))
      return { ...textResult(`Unknown tool: ${String(name)}`), isError: true };
    return textResult(echoOf(given));
  };

  return {
    setTools(next) {
      listed = withRuleTools(next, ruleTools);
    },
    answer({ method, params }) {
      received.push({ method, params });
      if (received.length > mostReceived) received.shift();
      switch (method) {
        case 'initialize':
          return { result: greeting(identity, params['protocolVersion']) };
        case 'ping':
        case 'logging/setLevel':
        case 'resources/subscribe':
        case 'resources/unsubscribe':
          return { result: {} };
        case 'tools/list':
          return { result: { tools: listed.map((tool) => ({ ...tool, inputSchema: { type: 'object' } })) } };
        case 'resources/list':
          return { result: { resources: [{ uri: 'test://one', name: 'one' }] } };
        case 'tools/call':
          return { result: call(params) };
        default:
          // So a client of the stateless era learns that it is to greet.
          return { error: { code: rpcErrors.methodNotFound, message: `Method not found: ${method}` } };
      }
    },
  };
}

export function textResult(...texts: readonly string[]): { content: object[] } {
  return { content: texts.map((text) => ({ type: 'text', text })) };
}

/** The answer that a fault puts in place of a good one. @param rest - other fields of a result. */
export function faultyAnswer(fault: AnswerFault<'error' | 'tool_error' | 'oversize'>, rest: object = {}): Answer {
  switch (fault.do) {
    case 'error': {
      const { code = -32_603, message = 'Internal error', data } = fault;
      return { error: { code, message, ...(data !== undefined && { data }) } };
    }
    case 'tool_error':
      return { result: { ...rest, ...textResult(...(fault.texts ?? ['The tool failed'])), isError: true } };
    case 'oversize':
      return { result: { ...rest, ...textResult('x'.repeat(fault.bytes)) } };
  }
}

/** Token under which the client wants to hear of the progress of a request. */
export function progressTokenOf(params: ClientMessage['params'] | undefined): unknown {
  return (params?.['_meta'] as { readonly progressToken?: unknown } | undefined)?.progressToken;
}

/** The params with which a server asks its client. */
export function questionOf(method: AskedMethod): object {
  switch (method) {
    case 'sampling/createMessage':
      return { messages: [{ role: 'user', content: { type: 'text', text: 'What now?' } }], maxTokens: 100 };
    case 'elicitation/create':
      return { message: 'What now?', requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } } };
    case 'roots/list':
      return {};
  }
}

function greeting({ name, version, instructions, capabilities }: ServerIdentity, asked: unknown): object {
  return {
    protocolVersion: typeof asked === 'string' ? asked : '2025-06-18',
    capabilities: capabilities ?? { tools: { listChanged: true }, logging: {} },
    serverInfo: { name, version },
    ...(instructions !== undefined && { instructions }),
  };
}

function withRuleTools(tools: readonly FaultyTool[], names: readonly string[]): readonly FaultyTool[] {
  const more = names.filter((name) => tools.every((tool) => tool.name !== name));
  return [...tools, ...more.map((name) => ({ name }))];
}

/** A text that was given by itself, else all arguments as JSON. */
function echoOf(given: unknown): string {
  const values = Object.values(given as object) as unknown[];
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(given);
}

function nameIn(given: unknown): unknown {
  return (given as { readonly name?: unknown }).name;
}
