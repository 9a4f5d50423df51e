import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { TracedCall, TracedRequest, TracedTurn } from '../src/calls/face.ts';
import { type Failure, read, readInteger, readString } from '../src/policy/failures/face.ts';
import { lastMet } from '../src/policy/records/face.ts';

/**
 * The one place where names of conventions stand. Those of agents and MCP are still in development: what changes there is changed here.
 * A test holds them against what the conventions of these versions say.
 */
export const conventions = {
  'open-telemetry/semantic-conventions-genai': 'v0.1.0',
  '@opentelemetry/semantic-conventions': '1.45.0',
} as const;

/** Names of attributes that the conventions have. */
export const standard = {
  errorType: 'error.type',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  answerModel: 'gen_ai.response.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  tool: 'gen_ai.tool.name',
  prompt: 'gen_ai.prompt.name',
  mcpMethod: 'mcp.method.name',
  requestId: 'jsonrpc.request.id',
  rpcStatus: 'rpc.response.status_code',
  httpMethod: 'http.request.method',
  httpRoute: 'http.route',
  urlScheme: 'url.scheme',
  httpStatus: 'http.response.status_code',
  resendCount: 'http.request.resend_count',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;

/** The name that {@link standard}`.agent` had of a workflow before v0.1.0; told beside it for one release, where that is asked for. */
const earlierWorkflow = 'gen_ai.workflow.name';

/** Returns what a call is told as, with the names of before v0.1.0 too. */
export function withEarlierNames(shape: CallShape): CallShape {
  const { workflow, attributes } = shape;
  if (workflow === undefined) return shape;
  return { ...shape, attributes: { ...attributes, ...given(earlierWorkflow, workflow) } };
}

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
  step: 'unwedge.spinning.step',
  form: 'unwedge.spinning.form',
  count: 'unwedge.spinning.count',
  metric: 'unwedge.budget.metric',
  per: 'unwedge.budget.per',
  child: 'unwedge.child',
  attemptFailed: 'unwedge.attempt.failed',
  waits: 'unwedge.call.waits',
  reconciling: 'unwedge.call.reconciling',
  reconciled: 'unwedge.call.reconciled',
  asks: 'unwedge.reconcile.asks',
  verdict: 'unwedge.reconcile.verdict',
  verdictHow: 'unwedge.reconcile.how',
} as const;

/** Operations of `gen_ai.operation.name`, and methods of `mcp.method.name`, that calls are told as. */
export const operations = {
  agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
  workflow: 'invoke_workflow',
} as const;
export const mcpMethods = { call: 'tools/call', list: 'tools/list' } as const;
/** Stand-in for what an agent may make up. */
const other = '_OTHER';
/** `error.type` of a tool that says it failed. */
const toolError = 'tool_error';

/** Methods of requests of MCP by their names; every other one is `_OTHER`, since a client may make up methods for ever. */
const knownMcpMethods: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  ...Object.values(mcpMethods),
]);

/** Methods of HTTP by their names; every other one is `_OTHER`. */
const httpMethods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

/** The integrations of a workflow: its backends, and the items of each. */
const workflowName = /^workflow:(.+?):[^:]+(:items)?$/;
/** The name of an item's span; which item it is, its label says. */
const itemName = 'workflow item';

/** Shape in which a call is told. */
export interface CallShape {
  readonly kind: 'agent' | 'chat' | 'mcp' | 'mcpServer' | 'http' | 'httpServer' | 'tool' | 'workflow' | 'other';
  /** The name of its span. */
  readonly name: string;
  readonly spanKind: SpanKind;
  /** The workflow that it is a run or an item of. */
  readonly workflow?: string;
  /** Attributes of its span and its metrics; few values each. */
  readonly attributes: Attributes;
}

/** Returns what a call is told as; nothing of it has been redacted. */
export function shapeOf(call: TracedCall): CallShape {
  const { integration, type, tool, provider, model, method, server } = call;
  const base = { [own.integration]: integration, ...given(own.integrationType, type) };
  const ofModel = { ...given(standard.provider, provider), ...given(standard.model, model) };
  if (type === 'mcp') return { kind: 'mcp', spanKind: SpanKind.CLIENT, ...mcpShape(base, call) };
  if (type === 'http') {
    const ofServer =
      server === undefined ? {} : { [standard.serverAddress]: server.host, [standard.serverPort]: server.port };
    if (call.modelApi !== undefined) return chatShape({ ...base, ...ofServer }, call, call.modelApi);
    const { name, known } = httpMethod(method);
    return {
      kind: 'http',
      name,
      spanKind: SpanKind.CLIENT,
      attributes: { ...base, ...ofModel, [standard.httpMethod]: known, ...ofServer },
    };
  }
  if (type === 'claude' || type === 'codex' || type === 'acp' || (type === 'subprocess' && provider !== undefined)) {
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
    const ofWorkflow = { ...base, [standard.agent]: workflow };
    if (items !== undefined) {
      return { kind: 'other', workflow, name: itemName, spanKind: SpanKind.INTERNAL, attributes: ofWorkflow };
    }
    return {
      kind: 'workflow',
      workflow,
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

/** Returns what a request that came is told as; nothing of it has been redacted. */
export function shapeOfRequest(request: TracedRequest): CallShape {
  const base = { [own.integration]: request.integration };
  const spanKind = SpanKind.SERVER;
  if (request.protocol === 'mcp') return { kind: 'mcpServer', spanKind, ...mcpShape(base, request) };
  const { name, known } = httpMethod(request.method);
  const { route } = request;
  return {
    kind: 'httpServer',
    name: route === undefined ? name : `${name} ${route}`,
    spanKind,
    attributes: {
      ...base,
      [standard.httpMethod]: known,
      [standard.urlScheme]: 'http',
      ...given(standard.httpRoute, route),
    },
  };
}

function mcpShape(
  base: Attributes,
  { method, tool, prompt }: Partial<Pick<TracedCall, 'method' | 'tool' | 'prompt'>>,
): Pick<CallShape, 'name' | 'attributes'> {
  const asked = method ?? (tool === undefined ? mcpMethods.list : mcpMethods.call);
  const known = knownMcpMethods.has(asked) ? asked : other;
  const target = tool ?? prompt;
  const ofTool = tool === undefined ? {} : { [standard.operation]: operations.tool, [standard.tool]: tool };
  return {
    name: target === undefined ? known : `${known} ${target}`,
    attributes: { ...base, [standard.mcpMethod]: known, ...ofTool, ...given(standard.prompt, prompt) },
  };
}

function chatShape(
  base: Attributes,
  { provider, model }: TracedCall,
  modelApi: NonNullable<TracedCall['modelApi']>,
): CallShape {
  const ofModel = { [standard.provider]: provider ?? modelApi, ...given(standard.model, model) };
  return {
    kind: 'chat',
    name: model === undefined ? operations.chat : `${operations.chat} ${model}`,
    spanKind: SpanKind.CLIENT,
    attributes: { ...base, [standard.operation]: operations.chat, ...ofModel },
  };
}

function httpMethod(method = ''): { readonly name: string; readonly known: string } {
  const upper = method.toUpperCase();
  return httpMethods.has(upper) ? { name: upper, known: upper } : { name: 'HTTP', known: other };
}

/** Returns what a span says of a call beside its shape: of these there are many values. */
export function particularsOf({ integration, number, label, session, requestId }: TracedCall): Attributes {
  const ofSession = session === undefined ? {} : { [own.session]: session, [standard.conversation]: session };
  return {
    [own.call]: `${integration}-${number}`,
    ...given(own.label, label),
    ...given(standard.requestId, requestId),
    ...ofSession,
  };
}

export function attributesOfTurn({ session, turn, kind }: TracedTurn): Attributes {
  return { [own.session]: session, [standard.conversation]: session, [own.turn]: turn, [own.messageKind]: kind };
}

/** The name of a turn's span: few values, as names are to have. */
export const turnName = 'session turn';

/** Returns what span and metrics say of a failure: what was met. An answer of the other side is told by its code, all else by its reason or kind. */
export function attributesOfFailure(shape: CallShape['kind'], failure: Failure): Attributes {
  const { kind, reason, status, code } = lastMet(failure);
  const answer = ofHttp.has(shape) ? status : ofMcp.has(shape) && isRpcCode(code) ? code : undefined;
  return {
    [standard.errorType]: String(answer ?? reason ?? kind),
    ...(answer !== undefined && ofHttp.has(shape) && { [standard.httpStatus]: answer }),
    ...(answer !== undefined && ofMcp.has(shape) && { [standard.rpcStatus]: String(answer) }),
  };
}

/** Returns what span and metrics say of an answer that came; with `error.type` where it says no. */
export function attributesOfAnswer(shape: CallShape['kind'], value: unknown): Attributes {
  if (ofHttp.has(shape)) {
    const status = readInteger(value, 'status');
    if (status === undefined) return {};
    // A 4xx that a server answers is a failure of who asked.
    const isError = status >= (shape === 'httpServer' ? 500 : 400);
    return { [standard.httpStatus]: status, ...(isError && { [standard.errorType]: String(status) }) };
  }
  if (!ofMcp.has(shape)) return {};
  const code = readInteger(read(value, 'error'), 'code');
  if (code !== undefined) return { [standard.errorType]: String(code), [standard.rpcStatus]: String(code) };
  return read(read(value, 'result'), 'isError') === true ? { [standard.errorType]: toolError } : {};
}

/** Figures of the answer of a model, and the attributes that have them. */
const figures = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;

/** Gives what the span of a request to a model says of its answer: of these there are many values. */
export function figuresOfAnswer(shape: CallShape['kind'], value: unknown): Attributes {
  if (shape !== 'chat') return {};
  const told = figures.flatMap((name) => {
    const figure = readInteger(value, name);
    return figure === undefined ? [] : [[standard[name], figure] as const];
  });
  return { ...given(standard.answerModel, readString(value, 'model')), ...Object.fromEntries(told) };
}

/** Gives the calls that an agent made, as far as its answer tells. */
export function callsOfAnswer(
  shape: CallShape['kind'],
  value: unknown,
): { readonly model?: number; readonly tools?: number } {
  if (shape !== 'agent') return {};
  const calls = read(value, 'calls') ?? read(read(value, 'agent'), 'calls');
  const [model, tools] = [readInteger(calls, 'model'), readInteger(calls, 'tools') ?? readInteger(value, 'toolCalls')];
  return { ...(model !== undefined && { model }), ...(tools !== undefined && { tools }) };
}

const ofHttp: ReadonlySet<CallShape['kind']> = new Set(['http', 'httpServer', 'chat']);
const ofMcp: ReadonlySet<CallShape['kind']> = new Set(['mcp', 'mcpServer']);

/** JSON-RPC has its codes below zero; exit codes and those of sockets are above. */
function isRpcCode(code: string | number | undefined): code is number {
  return typeof code === 'number' && code < 0;
}

function given(name: string, value: string | undefined): Attributes {
  return value === undefined ? {} : { [name]: value };
}
