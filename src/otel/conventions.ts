import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { TracedCall, TracedTurn } from '../calls/tracing.ts';
import type { Failure } from '../policy/failure.ts';

/**
 * The one place where names of conventions stand. Those of agents and MCP are still in development: what changes there is changed here.
 * A test holds them against what the conventions of these versions say.
 */
export const conventions = {
  'open-telemetry/semantic-conventions-genai': '004902b8cb70aa5ae6ca4ae07132b7daabcd3e10',
  '@opentelemetry/semantic-conventions': '1.45.0',
} as const;

/** Names of attributes that the conventions have. */
export const standard = {
  errorType: 'error.type',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  tool: 'gen_ai.tool.name',
  workflow: 'gen_ai.workflow.name',
  mcpMethod: 'mcp.method.name',
  rpcStatus: 'rpc.response.status_code',
  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
  resendCount: 'http.request.resend_count',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;

/** Names of attributes and events of our own, for what no convention has. */
export const own = {
  integration: 'unwedge.integration',
  integrationType: 'unwedge.integration.type',
  call: 'unwedge.call.id',
  label: 'unwedge.call.label',
  attempts: 'unwedge.call.attempts',
  effect: 'unwedge.call.effect',
  fellBack: 'unwedge.call.fell_back',
  session: 'unwedge.session.id',
  turn: 'unwedge.turn.number',
  messageKind: 'unwedge.message.kind',
  attempt: 'unwedge.attempt.number',
  retryDelay: 'unwedge.retry.delay',
  waitFor: 'unwedge.wait.for',
  failureKind: 'unwedge.failure.kind',
  failureReason: 'unwedge.failure.reason',
  failureMessage: 'unwedge.failure.message',
  breakerState: 'unwedge.breaker.state',
  rule: 'unwedge.watchdog.rule',
  child: 'unwedge.child',
  attemptFailed: 'unwedge.attempt.failed',
  waits: 'unwedge.call.waits',
} as const;

/** Operations of `gen_ai.operation.name`, and methods of `mcp.method.name`, that calls are told as. */
export const operations = { agent: 'invoke_agent', tool: 'execute_tool', workflow: 'invoke_workflow' } as const;
export const mcpMethods = { call: 'tools/call', list: 'tools/list' } as const;

/** Methods of HTTP by their names; every other one is `_OTHER`. */
const httpMethods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

/** The integrations of a workflow: its backends, and the items of each. */
const workflowName = /^workflow:(.+?):[^:]+(:items)?$/;
/** The name of an item's span; which item it is, its label says. */
const itemName = 'workflow item';

/** What a call is told as. */
export interface CallShape {
  readonly kind: 'agent' | 'mcp' | 'http' | 'tool' | 'workflow' | 'other';
  /** The name of its span. */
  readonly name: string;
  readonly spanKind: SpanKind;
  /** What its span and its metrics say of it; few values each. */
  readonly attributes: Attributes;
}

/** What a call is told as; nothing of it has been redacted. */
export function shapeOf(call: TracedCall): CallShape {
  const { integration, type, tool, provider, model, method, server } = call;
  const base = { [own.integration]: integration, ...given(own.integrationType, type) };
  const ofModel = { ...given(standard.provider, provider), ...given(standard.model, model) };
  if (type === 'mcp') {
    const mcpMethod = tool === undefined ? mcpMethods.list : mcpMethods.call;
    const ofTool = tool === undefined ? {} : { [standard.operation]: operations.tool, [standard.tool]: tool };
    return {
      kind: 'mcp',
      name: tool === undefined ? mcpMethod : `${mcpMethod} ${tool}`,
      spanKind: SpanKind.CLIENT,
      attributes: { ...base, [standard.mcpMethod]: mcpMethod, ...ofTool },
    };
  }
  if (type === 'http') {
    const known = httpMethods.has((method ?? '').toUpperCase()) ? (method ?? '').toUpperCase() : '_OTHER';
    const ofServer =
      server === undefined ? {} : { [standard.serverAddress]: server.host, [standard.serverPort]: server.port };
    return {
      kind: 'http',
      name: known === '_OTHER' ? 'HTTP' : known,
      spanKind: SpanKind.CLIENT,
      attributes: { ...base, ...ofModel, [standard.httpMethod]: known, ...ofServer },
    };
  }
  if (type === 'claude' || type === 'codex' || (type === 'subprocess' && provider !== undefined)) {
    const ofAgent = { [standard.operation]: operations.agent, [standard.agent]: integration };
    return {
      kind: 'agent',
      name: `${operations.agent} ${integration}`,
      spanKind: SpanKind.INTERNAL,
      attributes: { ...base, ...ofAgent, ...ofModel },
    };
  }
  const [, workflow, items] = type === 'workflow' ? (workflowName.exec(integration) ?? []) : [];
  if (workflow !== undefined) {
    const ofWorkflow = { ...base, [standard.workflow]: workflow };
    if (items !== undefined) {
      return { kind: 'other', name: itemName, spanKind: SpanKind.INTERNAL, attributes: ofWorkflow };
    }
    return {
      kind: 'workflow',
      name: `${operations.workflow} ${workflow}`,
      spanKind: SpanKind.INTERNAL,
      attributes: { ...ofWorkflow, [standard.operation]: operations.workflow },
    };
  }
  if (tool !== undefined) {
    const ofTool = { [standard.operation]: operations.tool, [standard.tool]: tool };
    return {
      kind: 'tool',
      name: `${operations.tool} ${tool}`,
      spanKind: SpanKind.INTERNAL,
      attributes: { ...base, ...ofTool },
    };
  }
  return { kind: 'other', name: `call ${integration}`, spanKind: SpanKind.INTERNAL, attributes: base };
}

/** What a span says of a call beside its shape: of these there are many values. */
export function particularsOf({ integration, number, label, session }: TracedCall): Attributes {
  const ofSession = session === undefined ? {} : { [own.session]: session, [standard.conversation]: session };
  return { [own.call]: `${integration}-${number}`, ...given(own.label, label), ...ofSession };
}

export function attributesOfTurn({ session, turn, kind }: TracedTurn): Attributes {
  return { [own.session]: session, [standard.conversation]: session, [own.turn]: turn, [own.messageKind]: kind };
}

/** The name of a turn's span: few values, as names are to have. */
export const turnName = 'session turn';

/** What span and metrics say of a failure. An answer of the other side is told by its code, all else by its reason or kind. */
export function attributesOfFailure(shape: CallShape['kind'], failure: Failure): Attributes {
  const { kind, reason, status, code } = failure;
  const answer = shape === 'http' ? status : shape === 'mcp' && isRpcCode(code) ? code : undefined;
  return {
    [standard.errorType]: String(answer ?? reason ?? kind),
    ...(answer !== undefined && shape === 'http' && { [standard.httpStatus]: answer }),
    ...(answer !== undefined && shape === 'mcp' && { [standard.rpcStatus]: String(answer) }),
  };
}

/** JSON-RPC has its codes below zero; exit codes and those of sockets are above. */
function isRpcCode(code: string | number | undefined): code is number {
  return typeof code === 'number' && code < 0;
}

function given(name: string, value: string | undefined): Attributes {
  return value === undefined ? {} : { [name]: value };
}
