import type { Effect } from '../../policy/effects.ts';
import type { Failure, Outcome } from '../../policy/failures/failure.ts';
import { type Finding, judgeAnswer, questionOf } from '../../policy/reconcileMatch.ts';
import {
  type LostAnswer,
  type ProbeContext,
  type ProbeRule,
  type ReconcileOptions,
  type ReconcileRule,
  reconcileRuleOf,
  type ToolRule,
} from '../../policy/reconcileRule.ts';
import {
  asFinding,
  type Asked,
  type Asking,
  type AskingRule,
  type KeyRule,
  type Reconciler,
} from '../../policy/reconciler.ts';
import type { KnownTool, Tools, ToolSettings } from '../../policy/toolOptions.ts';
import type { ToolTable } from '../../policy/toolRules.ts';

/** Limits that end the calls of a probe. */
export interface ProbeLimits {
  readonly signal: AbortSignal;
  /** All the time that it has, in ms: what it would have to wait for longer is refused, with the time to come back. */
  readonly timeoutMs: number;
}

/** Port by which a rule reaches other tools. */
export interface ProbePort {
  /** Calls a tool the usual way, as a call that changes nothing. Never rejects. */
  readonly call: (integration: string, tool: string, input: unknown, limits: ProbeLimits) => Promise<Outcome<unknown>>;
  /** Reads the data in an answer of an integration. Must not throw. */
  readonly read: (integration: string, answer: unknown) => unknown;
  /** Reads the rest of an answer, beside its data. Must not throw. */
  readonly beside: (integration: string, answer: unknown) => unknown;
  /** Tells the effect of a call of a tool, where that is known. */
  readonly effect: (integration: string, tool: string, input: unknown) => Effect | undefined;
}

/** Place that a key may go to, and its name there. */
export type KeyPlace = Pick<Extract<ReconcileRule, { kind: 'key' }>, 'in' | 'name'>;

/** Forms of the requests and answers of a kind of integration. None of it may throw. */
export interface RequestForms {
  /** Reads the aim of a request, as rules see it. */
  readonly about: (request: unknown) => Asked;
  /** The answer that holds a result. */
  readonly answer: (result: unknown) => unknown;
  /** Places that a key can go to. */
  readonly keysIn: readonly KeyPlace['in'][];
  /** A request with a key in that place. */
  readonly keyed: (request: unknown, place: KeyPlace, key: string) => unknown;
}

/**
 * A rule for the calls of an integration.
 * @param name - how the option is called in errors.
 * @throws RangeError when a key cannot go where the rule says.
 */
function boundRule(name: string, rule: ReconcileRule, forms: RequestForms, port: ProbePort): Reconciler {
  const { about, answer } = forms;
  if (rule.kind === 'key') {
    if (forms.keysIn.length === 0) {
      throw new RangeError(`Expected \`${name}\` to be probe or tool: there is no place for an idempotency key`);
    }
    if (!forms.keysIn.includes(rule.in)) {
      const places = forms.keysIn.map((place) => (place === 'input' ? 'input.NAME' : place)).join(' or ');
      throw new RangeError(`Expected \`${name}.idempotencyKey.in\` to be ${places}, got ${rule.in}`);
    }
    return { kind: 'key', about, keyed: (request, key) => forms.keyed(request, rule, key) } satisfies KeyRule;
  }
  const { notBeforeMs, endsWithProcess, timeoutMs, attempts, hold } = rule;
  const limits = { kind: 'ask', notBeforeMs, endsWithProcess, timeoutMs, attempts, hold, about, answer } as const;
  if (rule.kind === 'tool') {
    return {
      ...limits,
      asks: rule.tool,
      ask: (lost, asking) => askTool(rule, lost, asking, port),
    } satisfies AskingRule;
  }
  return {
    ...limits,
    asks: 'its probe',
    ask: (lost, asking) => askFunction(rule, lost, asking, port),
  } satisfies AskingRule;
}

async function askTool(rule: ToolRule, lost: LostAnswer, { signal }: Asking, port: ProbePort): Promise<Finding> {
  const { tool, integration = lost.integration, timeoutMs } = rule;
  const unclear = (how: string): Finding => asFinding({ verdict: 'unknown', how: `${tool} ${how}` });
  const input = questionOf(rule, lost);
  if (input === undefined) return unclear('was not asked: the call does not have what it takes');
  const effect = port.effect(integration, tool, input);
  if (effect !== undefined && effect !== 'readOnly') return unclear(`was not asked: it is ${effect}, not readOnly`);
  const outcome = await port.call(integration, tool, input, { signal, timeoutMs });
  if (outcome.ok) {
    const { value } = outcome;
    return asFinding(judgeAnswer(rule, lost, port.read(integration, value), port.beside(integration, value)));
  }
  const { message, retryAfterMs } = outcome.failure;
  return asFinding({ ...unclear(`failed: ${message.slice(0, 200)}`), againInMs: retryAfterMs });
}

/** Asks a function. No answer, as one of its calls was told to come back later, counts as that. */
async function askFunction(
  { probe, timeoutMs }: ProbeRule,
  lost: LostAnswer,
  { signal, attempt }: Asking,
  port: ProbePort,
): Promise<unknown> {
  let refused: Failure | undefined;
  const call: ProbeContext['call'] = async (integration, tool, input) => {
    const outcome = await port.call(integration, tool, input, { signal, timeoutMs });
    if (!outcome.ok && outcome.failure.retryAfterMs !== undefined) refused = outcome.failure;
    return outcome;
  };
  const later = ({ message, retryAfterMs }: Failure): Finding =>
    asFinding({ verdict: 'unknown', how: `its probe failed: ${message.slice(0, 200)}`, againInMs: retryAfterMs });
  try {
    const verdict = await probe(lost as LostAnswer<never>, { signal, attempt, call });
    return verdict === 'unknown' && refused !== undefined ? later(refused) : verdict;
  } catch (error) {
    if (refused === undefined) throw error;
    return later(refused);
  }
}

/** An object with a value under names with dots between; what was given stays as it is. */
export function withValueAt(given: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.');
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const own: readonly (readonly [string, unknown])[] = isObject ? Object.entries(given) : [];
  const inner = own.find(([key]) => key === name)?.[1];
  const made = rest.length === 0 ? value : withValueAt(inner, rest.join('.'), value);
  return Object.fromEntries([...own.filter(([key]) => key !== name), [name, made]]);
}

/**
 * The tools of an integration with their rules bound to it. A tool without one of its own has that of the integration.
 * @throws RangeError that names the rule which its kind of integration cannot follow, or which asks a tool that is not read-only.
 */
export function reconciledTools(
  name: string,
  tools: ToolTable & { readonly size: number },
  ofAll: ReconcileOptions | undefined,
  forms: RequestForms,
  port: ProbePort,
): Tools {
  const bind = (option: string, given: ReconcileOptions): Reconciler => {
    const rule = reconcileRuleOf(given);
    if (rule.kind === 'tool' && (rule.integration ?? name) === name)
      refuseChanging(option, rule.tool, tools.get(rule.tool));
    return boundRule(option, rule, forms, port);
  };
  const rules = new Map<ReconcileOptions, Reconciler>();
  for (const [tool, { reconcile }] of tools.entries())
    if (reconcile !== undefined) rules.set(reconcile, bind(`${name}.tools.${tool}.reconcile`, reconcile));
  const usual = ofAll === undefined ? undefined : bind(`${name}.reconcile`, ofAll);
  if (usual === undefined && rules.size === 0) return tools;
  const known = new WeakMap<ToolSettings, KnownTool>();
  const bound = (own: ToolSettings): KnownTool => {
    const reconciler = own.reconcile === undefined ? usual : rules.get(own.reconcile);
    return reconciler === undefined ? own : { ...own, reconciler };
  };
  return {
    get(tool) {
      const own = tools.get(tool) ?? nothing;
      if (own === nothing && usual === undefined) return undefined;
      const made = known.get(own) ?? bound(own);
      known.set(own, made);
      return made;
    },
    size: tools.size + 1,
  };
}

const nothing: ToolSettings = {};

function refuseChanging(option: string, tool: string, settings: ToolSettings | undefined): void {
  const effect = settings?.effect;
  if (effect === undefined || effect === 'readOnly') return;
  throw new RangeError(`Expected \`${option}.tool\` to be a tool that is readOnly, got ${tool}, which is ${effect}`);
}
