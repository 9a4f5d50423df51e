import { type CallSettings, effectUnder } from '../../src/calls/callOptions.ts';
import type { FailureFacts } from '../../src/policy/failure.ts';
import type { ReconcileLog } from '../../src/policy/reconciler.ts';
import type { McpAnswer } from '../../src/protocol/mcp/message.ts';
import type { ClientCall } from './clientCall.ts';
import type { ProxyRules } from './proxyRules.ts';
import type { ProxyScope } from './proxyScope.ts';

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
    if (rule === undefined) return made;
    return { ...made, session: this.#scope.session, reconcile: rule, reconcileLog: this.#asked(call) };
  }

  #make({ request, tool, label }: ClientCall, effect: Settings['effect']): Settings {
    const { policy, limitsOf } = this.#scope.settings;
    return {
      ...limitsOf(request.method, tool),
      retry: policy.retry,
      effect,
      ...(effect === undefined && tool !== undefined && { learnedEffect: () => this.#rules.effectOf(tool) }),
      label,
      session: undefined,
      signal: undefined,
      fallback: undefined,
      givenUp: this.#givenUp,
    };
  }
}
