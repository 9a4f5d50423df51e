import { type ProbeLimits, type ProbePort, mcpForms } from '../../src/calls/reconcile/face.ts';
import { type CallPath, type CallSettings, effectUnder } from '../../src/calls/face.ts';
import type { Effect, ReconcileLog, Reconciler, Tools } from '../../src/policy/face.ts';
import type { FailureFacts, Outcome } from '../../src/policy/failures/face.ts';
import { type McpAnswer, failureIn, takesTasks } from '../../src/protocol/mcp/face.ts';
import { requestLine } from '../../src/protocol/face.ts';
import { ClientCall } from './clientCall.ts';
import type { ProxyScope } from './proxyScope.ts';

interface OwnCalls {
  readonly path: Pick<CallPath<ClientCall, McpAnswer>, 'start'>;
  readonly givenUp: (call: ClientCall, facts: FailureFacts) => void;
}

/** Configuration of the tools of the server: their effects, and the reconcile rules, which ask this server. */
export class ProxyRules {
  readonly #scope: ProxyScope;
  readonly #own: () => OwnCalls;
  readonly #tools: Tools;

  constructor(scope: ProxyScope, own: () => OwnCalls) {
    this.#scope = scope;
    this.#own = own;
    const port: ProbePort = {
      call: (_integration, tool, input, limits) => this.#ask(tool, input, limits),
      read: (_integration, answer) => mcpForms.read((answer as McpAnswer).result),
      beside: (_integration, answer) => mcpForms.beside?.((answer as McpAnswer).result),
      effect: (_integration, tool) => this.effectOf(tool),
    };
    this.#tools = scope.settings.toolsBy(port);
  }

  /** Tells what calls of a tool do to the world, where somebody says: the configuration first, then the server. */
  effectOf(tool: string): Effect | undefined {
    const { settings, record } = this.#scope;
    const known = this.#tools.get(tool);
    const declared = known?.effect ?? settings.effect;
    if (declared !== undefined) return declared;
    const said = record.tools.of(tool);
    // To ask is the better answer to a lost call than to repeat it: the rule was given for this tool.
    const isRepeated = settings.repeatsAlways && known?.reconciler?.kind !== 'ask';
    return isRepeated && said === 'mutating' ? undefined : said;
  }

  /** Tells whether equal calls of a tool are one, by the word of the operator. */
  isJoined(tool: string): boolean {
    return this.#tools.get(tool)?.join === true;
  }

  /** Tells whether a tool changes nothing, by the same word: no hint is trusted. */
  isDeclaredRead(tool: string): boolean {
    const known = this.#tools.get(tool);
    return known?.join === true || (known?.effect ?? this.#scope.settings.effect) === 'readOnly';
  }

  /** Finds what settles the lost answer of a call; a task is asked for by itself. */
  of({ tool, asTask }: ClientCall): Reconciler | undefined {
    return tool === undefined || asTask ? undefined : this.#tools.get(tool)?.reconciler;
  }

  /** Calls a tool that changes nothing, on its usual way. Never rejects; what the tool says of its own failure is a failure. */
  async #ask(tool: string, input: unknown, { signal, timeoutMs }: ProbeLimits): Promise<Outcome<McpAnswer>> {
    const { settings, record, clock, name } = this.#scope;
    const { path, givenUp } = this.#own();
    const id = this.#scope.nextId();
    const method = 'tools/call';
    const params = { ...record.requestParams, name: tool, arguments: input ?? {} };
    const line = Buffer.from(requestLine(id, method, params));
    const request = { kind: 'request', id, key: `s${id}`, method, params } as const;
    const call = new ClientCall(request, line, clock.now(), () => 'readOnly');
    const ownLimits = settings.limitsOf(method, tool);
    const asked: CallSettings<ClientCall, McpAnswer> = {
      ...ownLimits,
      // A rule whose time was too short says nothing about the server.
      ownLimits,
      overallMs: Math.min(ownLimits.overallMs, timeoutMs),
      // A rule that got no answer asks again by itself.
      retry: { ...settings.policy.retry, maxAttempts: 1 },
      effect: 'readOnly',
      label: call.label,
      session: undefined,
      signal,
      fallback: undefined,
      underWay: true,
      isQuestion: true,
      givenUp,
    };
    const outcome = await new Promise<Outcome<McpAnswer>>((resolve) => {
      call.row = path.start(call, asked, resolve);
    });
    const facts = outcome.ok ? failureIn(outcome.value) : undefined;
    if (facts === undefined) return outcome;
    return { ok: false, failure: { ...facts, integration: name, attempts: 1, retryable: false } };
  }
}

/** Labels whose settings are kept; a client may make up tools for ever. */
const mostSettings = 1000;

type Settings = CallSettings<ClientCall, McpAnswer>;

/** Settings that the calls of the client are made with. */
export class ClientSettings {
  readonly #scope: ProxyScope;
  readonly #rules: ProxyRules;
  readonly #givenUp: (call: ClientCall, facts: FailureFacts) => void;
  readonly #asked: (call: ClientCall) => ReconcileLog;
  /** By label: what is known of a tool's effect may change. */
  readonly #known = new Map<string, Settings>();

  /** @param asked - what follows the question about a call. */
  constructor(
    scope: ProxyScope,
    rules: ProxyRules,
    givenUp: (call: ClientCall, facts: FailureFacts) => void,
    asked: (call: ClientCall) => ReconcileLog,
  ) {
    this.#scope = scope;
    this.#rules = rules;
    this.#givenUp = givenUp;
    this.#asked = asked;
  }

  of(call: ClientCall): Settings {
    const rule = this.#rules.of(call);
    const effect = effectUnder(rule, call.effect);
    const known = this.#known.get(call.label);
    const isKnown = known !== undefined && known.effect === effect;
    const made = isKnown ? known : this.#make(call, effect);
    if (!isKnown && (known !== undefined || this.#known.size < mostSettings)) this.#known.set(call.label, made);
    // Its own answer says when a task is done. A server without tasks takes the call for one of another kind.
    if (call.asTask && takesTasks(this.#scope.record.handshake?.['capabilities'])) return { ...made, keep: undefined };
    return rule === undefined ? made : { ...made, reconcile: rule, reconcileLog: this.#asked(call) };
  }

  #make({ request, tool, label }: ClientCall, effect: Settings['effect']): Settings {
    const { policy, limitsOf } = this.#scope.settings;
    return {
      ...limitsOf(request.method, tool),
      retry: policy.retry,
      effect,
      ...(effect === undefined && tool !== undefined && { learnedEffect: () => this.#rules.effectOf(tool) }),
      label,
      session: this.#scope.session,
      keep: tool === undefined ? undefined : this.#scope.settings.keepOf(tool),
      signal: undefined,
      fallback: undefined,
      givenUp: this.#givenUp,
    };
  }
}
