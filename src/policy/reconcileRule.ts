import type { Outcome } from './failures/failure.ts';
import {
  anything,
  boolean,
  byName,
  callback,
  choice,
  duration,
  type Given,
  type GivenValues,
  integer,
  type Key,
  type Made,
  section,
  type Tell,
  text,
} from './options/optionKeys.ts';

/** A call whose answer was lost, as a reconcile rule sees it. */
export interface LostAnswer<Input = unknown> {
  readonly integration: string;
  /** Absent where the integration has no tools. */
  readonly tool?: string | undefined;
  /** Input of the tool: the arguments of an MCP tool, the request of an HTTP API or a command. */
  readonly input: Input;
  readonly session?: string | undefined;
  /** Its id: in the ledger of its session, else unique within the runtime. */
  readonly call: string;
  /** Time when its first attempt began, wall time in ms since the epoch. */
  readonly startedAt: number;
  /** Time when its answer was lost, likewise. After the end of a gateway: when the next one found that out. */
  readonly endedAt: number;
}

/** Context that a probe is given with the call. */
export interface ProbeContext {
  /** Aborted when the probe has had its time, or nobody needs its answer any more. */
  readonly signal: AbortSignal;
  /** Number of the question to the rule for this call, from 1. */
  readonly attempt: number;
  /** Calls a tool of an integration the usual way: its circuit, limits and retries hold. Never rejects. */
  readonly call: (integration: string, tool: string, input?: unknown) => Promise<Outcome<unknown>>;
}

/** Answer of a probe: the effect took place, with what the call would have answered where that is known; it did not; or nobody knows. */
export type Verdict<Answer = unknown> =
  | 'done'
  | 'not_done'
  | 'unknown'
  | {
      readonly done: Answer;
      /** Words on how it is known, for people and agents: `it is listed as ch_42`. */
      readonly how?: string | undefined;
    };

/** Finds out what became of a call. What it throws, or answers beside a {@link Verdict}, counts as no answer. */
export type ReconcileProbe<Input = never, Answer = unknown> = (
  call: LostAnswer<Input>,
  context: ProbeContext,
) => Verdict<Answer> | PromiseLike<Verdict<Answer>>;

/** Source of a value: `input.reference` or `call.id` (`call.session`, `call.startedAt`) of the call; a number or a flag as it is; `{ value }`. */
export type MappedValue = string | number | boolean | null | { readonly value: unknown };

const askKeys = {
  /**
   * Time after the loss of the answer that the other side may still act on the call, in ms: the rule vouches that it does no later. `not_done` counts from
   * then on. @defaultValue none: `not_done` never counts, but for {@link endsWithProcess}
   */
  notBefore: duration({
    zero: true,
    usually: '`not_done` does not count',
    help: 'How long after the loss of an answer the server may still act on the call.',
  }),
  /**
   * Says that what the calls do ends with the process of the MCP server: it acts itself, and asks no API or database that goes on without it. The rule
   * vouches for it. `not_done` then counts as soon as the process has ended that had the call, also before `notBefore`. It changes nothing where unwedge does
   * not see that end: remote servers, commands that hand messages on (`docker`, `ssh`), functions, HTTP APIs, commands, and after the end of the gateway.
   * @defaultValue false
   */
  endsWithProcess: boolean({
    inherited: false,
    help: 'Whether what the calls do ends with the process of the MCP server: it asks no API that goes on without it.',
  }),
  /** Time that one probe may take, in ms above 0. @defaultValue 5000 */
  timeoutMs: duration({ inherited: 5000, help: 'Limit on each probe.' }),
  /** Number of times it asks before it gives up; as often again once `notBefore` has passed. At least 1. @defaultValue 3 */
  attempts: integer({ inherited: 3, help: 'How often it is asked before it gives up.' }),
  /** Calls that wait meanwhile, in the same session: those of the tool with equal input, or all of the tool. @defaultValue 'input' */
  hold: choice(['input', 'tool'], {
    inherited: 'input',
    help: 'What waits meanwhile in the session: calls of equal input, or all of the tool.',
  }),
};

/** Limits of all rules that ask. */
export interface ReconcileLimits extends Given<typeof askKeys> {}

/** A rule that is a function. */
export interface ProbeRuleOptions extends ReconcileLimits {
  /** Finds out what became of a call. */
  readonly probe: ReconcileProbe;
}

const path = (about: { readonly help: string; readonly inherited?: string; readonly usually?: string }) =>
  text({
    ...about,
    form: (given) => given.split('.').every((name) => name !== ''),
    expected: 'names with dots between',
  });

const toolRuleKeys = {
  /** The tool that is asked. */
  tool: text({ help: 'The read-only tool that is asked what became of a call.' }) as Key<string | undefined, string>,
  /** Owner of that tool. @defaultValue the integration of the call */
  integration: text({ usually: 'the integration of the call', help: 'Whose tool that is.' }),
  /** Input that it is given, by name. @defaultValue nothing */
  input: byName(anything as Key<MappedValue>, {
    expected: 'an object of values',
    usually: 'nothing',
    help: 'What the tool is given: `input.NAME` or `call.id` of the call, a number or flag as it is, `{ value }`.',
  }),
  /** Place of the list in its answer, as names with dots between. @defaultValue the answer itself */
  items: path({ usually: 'the answer itself', help: 'Where in its answer the list is.' }),
  /** Fields that an item that is this call has to have, by the names of the item. At least one. */
  match: byName(anything as Key<MappedValue>, {
    expected: 'an object of values',
    help: 'What an item that is this call has to have, by the names of the item.',
  }) as Key<Readonly<Record<string, MappedValue>> | undefined, Readonly<Record<string, MappedValue>>>,
  /**
   * Place where an item says when it was made (ISO 8601, or seconds or ms since the epoch): one from before the call is another call's. @defaultValue not
   * looked at
   */
  since: path({ usually: 'not looked at', help: 'Where an item says when it was made.' }),
  /** Time that the clocks may be apart, in ms: what was made so shortly before the call may be this call or another, and is `unknown`. @defaultValue 60000 */
  clockToleranceMs: duration({ zero: true, inherited: 60_000, help: 'How far the clocks may be apart.' }),
  /** Answer of the call where an item is found: `item`, or a part of it such as `item.receipt`. @defaultValue none: it ends as done, without an answer */
  result: path({ usually: 'no answer', help: 'What the call answers where an item is found: `item` or `item.NAME`.' }),
  /** Field that an item is called by in words, as names with dots between. @defaultValue 'id' */
  named: path({ inherited: 'id', help: 'What an item is called by in words.' }),
};

/** A rule that is data: it asks another tool, which must be read-only, and looks for the call in what that lists. */
export interface ToolRuleOptions extends ReconcileLimits, Given<typeof toolRuleKeys> {}

/** A rule that makes calls repeatable: each carries a key by which the other side knows it again. */
export interface KeyRuleOptions {
  /** Place where each call carries its key. */
  readonly idempotencyKey: {
    /** Place that the key goes to: into the input under this name (`input.key`), the `_meta` of an MCP call, or a header of an HTTP request. */
    readonly in: `input.${string}` | 'meta' | 'header';
    /** Its name in `_meta` or among the headers. @defaultValue 'idempotencyKey' in `_meta`, 'Idempotency-Key' as a header */
    readonly name?: string | undefined;
  };
}

/** Rule that finds out what became of a call whose answer was lost (docs/never-twice.md). */
export type ReconcileOptions = ProbeRuleOptions | ToolRuleOptions | KeyRuleOptions;

const places = 'input.NAME, meta or header';

/** The options of a reconcile rule. */
const reconcileKeys = {
  probe: callback<ReconcileProbe>({ codeOnly: true }),
  ...toolRuleKeys,
  ...askKeys,
  idempotencyKey: section(
    {
      in: text({
        required: true,
        form: (given) => given === 'meta' || given === 'header' || /^input(\.[^.]+)+$/.test(given),
        expected: places,
        help: `Where the key goes: ${places}.`,
      }) as Key<KeyRuleOptions['idempotencyKey']['in']>,
      name: text({ usually: 'idempotencyKey, or Idempotency-Key', help: 'Its name in `_meta` or among the headers.' }),
    },
    { help: 'A key that each call carries, so that the server knows a repetition.' },
  ),
};

type ReadRule = GivenValues<typeof reconcileKeys>;

const ofTool = ['integration', 'input', 'items', 'match', 'since', 'clockToleranceMs', 'result', 'named'] as const;
const ofAsking = ['notBefore', 'endsWithProcess', 'timeoutMs', 'attempts', 'hold'] as const;

/** Judges what goes together. */
function judgeRule(read: ReadRule, tell: Tell): void {
  const kinds = (['probe', 'tool', 'idempotencyKey'] as const).filter((key) => read[key] !== undefined);
  const [kind] = kinds;
  if (kind === undefined) tell([], { expected: 'an object with probe, tool or idempotencyKey', value: read });
  else if (kinds.length > 1) tell(kinds[1] ?? kind, { says: `to be left out beside \`${kind}\`` });
  else if (kind === 'tool' && Object.keys(read.match ?? {}).length === 0) {
    tell('match', { expected: 'at least one name and what it has to be', value: read.match });
  }
  const strange = kind === 'tool' ? [] : [...ofTool, ...(kind === 'idempotencyKey' ? ofAsking : [])];
  for (const key of strange) {
    if (read[key] !== undefined) tell(key, { says: `to be left out beside \`${kind ?? 'nothing'}\`` });
  }
  for (const key of ['input', 'match'] as const) {
    for (const [name, value] of Object.entries(read[key] ?? {})) {
      if (!isMapped(value)) tell([key, name], { expected: mappedForms, value });
    }
  }
  if (read.result !== undefined && !/^item(\.|$)/.test(read.result)) {
    tell('result', { expected: 'item, or a part of it such as item.receipt', value: read.result });
  }
}

const mappedForms = 'input.NAME, call.id, call.session, call.startedAt, a number, a flag, null, or { value }';

function isMapped(value: unknown): value is MappedValue {
  if (typeof value === 'string') return /^(input(\.[^.]+)*|call\.(id|session|startedAt))$/.test(value);
  if (typeof value === 'object' && value !== null) return Object.hasOwn(value, 'value');
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/** A reconcile rule as an option has it. */
export const reconcileKey = section(
  reconcileKeys,
  { id: 'reconcile', whole: true, help: 'How it is found out what became of a call whose answer was lost.' },
  judgeRule,
) as Key<ReconcileOptions | undefined>;

/** Limits on how often, how long and when a rule asks; in ms. */
export interface AskLimits extends Omit<Made<typeof askKeys>, 'notBefore'> {
  readonly notBeforeMs: number | undefined;
}

/** A rule that asks another tool, complete. */
export interface ToolRule
  extends AskLimits,
    Readonly<Record<'integration' | 'items' | 'since' | 'result', string | undefined>> {
  readonly kind: 'tool';
  readonly tool: string;
  readonly input: Readonly<Record<string, MappedValue>>;
  readonly match: Readonly<Record<string, MappedValue>>;
  readonly clockToleranceMs: number;
  readonly named: string;
}

/** A rule that is a function, complete. */
export interface ProbeRule extends AskLimits {
  readonly kind: 'probe';
  readonly probe: ReconcileProbe;
}

/** A rule, complete. */
export type ReconcileRule =
  | ToolRule
  | ProbeRule
  | { readonly kind: 'key'; readonly in: 'input' | 'meta' | 'header'; readonly name: string };

/** @param given - as it was read by {@link reconcileKey}: right, durations in ms. */
export function reconcileRuleOf(given: ReconcileOptions): ReconcileRule {
  const read = given as ReadRule;
  if (read.idempotencyKey !== undefined) return keyRule(read.idempotencyKey as KeyRuleOptions['idempotencyKey']);
  const {
    notBefore: notBeforeMs,
    endsWithProcess = false,
    timeoutMs = 5000,
    attempts = 3,
    hold = 'input',
    probe,
  } = read;
  const limits = { notBeforeMs, endsWithProcess, timeoutMs, attempts, hold };
  if (probe !== undefined) return { kind: 'probe', probe, ...limits };
  const { tool = '', integration, input = {}, items, match = {}, since, clockToleranceMs = 60_000 } = read;
  const { result, named = 'id' } = read;
  const about = { tool, integration, input, items, match, since, clockToleranceMs, result, named };
  return { kind: 'tool', ...about, ...limits };
}

function keyRule({ in: where, name }: KeyRuleOptions['idempotencyKey']): ReconcileRule {
  if (where === 'meta') return { kind: 'key', in: 'meta', name: name ?? 'idempotencyKey' };
  if (where === 'header') return { kind: 'key', in: 'header', name: name ?? 'Idempotency-Key' };
  return { kind: 'key', in: 'input', name: where.slice('input.'.length) };
}
