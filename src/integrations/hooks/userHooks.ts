import type { CallSettings } from '../../calls/callOptions.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import type { CallPath } from '../../calls/callPath.ts';
import { stackOf } from '../../calls/errorText.ts';
import type { Facts } from '../../policy/facts/facts.ts';
import type { Failure, Outcome } from '../../policy/failures/failure.ts';
import { nearest } from '../../policy/text/nearest.ts';
import { show } from '../../policy/options/options.ts';

/** Event that a hook is told, and what belongs to it. */
export interface HookEvent {
  /** Name of the event, for example `PreToolUse`. */
  readonly event: string;
  /** Action that the main operation is about to take, for example the tool's name. @defaultValue '' */
  readonly action?: string | undefined;
  readonly session?: string | undefined;
  readonly payload?: unknown;
}

/** Answer that a handler may give; what is no object, and nothing, means: go on. */
export interface HookAnswer {
  /** `block` declines the main operation. Another word than these two is a failure of the hook. */
  readonly decision?: 'block' | 'continue' | undefined;
  readonly reason?: string | undefined;
}

/** May be synchronous. A throw, a rejection and a hang are recorded; the main operation goes on unless the hook is a guard. */
export type HookHandler = (event: HookEvent, context: AttemptContext) => unknown;

/** Outcome of one hook. */
export interface HookReport {
  readonly hook: string;
  readonly decision: 'block' | 'continue';
  readonly reason?: string | undefined;
  /** Return value of the handler. */
  readonly value?: unknown;
  readonly failure?: Failure | undefined;
}

/** Outcome of all hooks of an event: blocked when one of them blocks. */
export interface HookVerdict {
  readonly decision: 'block' | 'continue';
  readonly reason?: string | undefined;
  readonly reports: readonly HookReport[];
}

/** A hook and the way to it. */
export interface RegisteredHook {
  readonly name: string;
  readonly event: string;
  readonly onFailure: 'continue' | 'block';
  readonly path: CallPath<HookEvent, unknown>;
  readonly settings: CallSettings<HookEvent, unknown>;
}

/**
 * The registered hooks of a gateway. Every handler runs behind an integration of its own: with a limit, a breaker and a record;
 * there is no other way in. What a handler does in a timer of its own later is out of reach in this process: a command is not,
 * and `Gateway.guardProcess` records it.
 */
export class UserHooks {
  readonly #facts: Facts;
  readonly #isStarted: () => boolean;
  readonly #hooks: RegisteredHook[] = [];

  /** @param isStarted - whether what the hooks run on has been started; until then each fails at once. */
  constructor(facts: Facts, isStarted: () => boolean) {
    this.#facts = facts;
    this.#isStarted = isStarted;
  }

  add(hook: RegisteredHook): void {
    this.#hooks.push(hook);
  }

  /** Runs the hooks of an event side by side. Never rejects. */
  async run(event: HookEvent): Promise<HookVerdict> {
    const hooks = this.#hooks.filter((hook) => hook.event === event.event);
    const reports = await Promise.all(hooks.map((hook) => this.#runOne(hook, event)));
    const block = reports.find(({ decision }) => decision === 'block');
    return { decision: block?.decision ?? 'continue', reason: block?.reason, reports };
  }

  async #runOne(hook: RegisteredHook, event: HookEvent): Promise<HookReport> {
    if (!this.#isStarted())
      return this.#failed(hook, event, notStarted.message, { ...notStarted, integration: hook.path.name });
    const outcome = await new Promise<Outcome<unknown>>((resolve) => {
      hook.path.start(event, { ...hook.settings, session: event.session }, resolve);
    });
    if (!outcome.ok) return this.#failed(hook, event, outcome.failure.message, outcome.failure);
    const { value } = outcome;
    const decision = decisionOf(value);
    return typeof decision === 'string' ? this.#failed(hook, event, decision) : { hook: hook.name, ...decision, value };
  }

  #failed(hook: RegisteredHook, event: HookEvent, error: string, failure?: Failure): HookReport {
    this.#facts.tell({
      type: 'hook.failed',
      hook: hook.name,
      event: event.event,
      action: event.action ?? '',
      session: event.session,
      kind: failure?.kind,
      error,
      stack: stackOf(failure?.cause),
    });
    const reason = `The hook ${hook.name} failed: ${error}`;
    return {
      hook: hook.name,
      decision: hook.onFailure,
      reason: hook.onFailure === 'block' ? reason : undefined,
      failure,
    };
  }
}

const notStarted: Omit<Failure, 'integration'> = {
  kind: 'unavailable',
  message: 'The gateway is not started',
  outcome: 'not_started',
  attempts: 0,
  retryable: true,
};

const decisions = ['block', 'continue'] as const;

/** Reads an answer, or says what is wrong with it, in words, when it cannot be read: a guard that mistypes its block must not pass for one that agrees. */
function decisionOf(answer: unknown): Pick<HookReport, 'decision' | 'reason'> | string {
  if (typeof answer !== 'object' || answer === null) return { decision: 'continue' };
  try {
    const { decision = 'continue', reason } = answer as HookAnswer;
    const known = decisions.find((each) => each === decision);
    if (known !== undefined) return { decision: known, reason: typeof reason === 'string' ? reason : undefined };
    const close = typeof decision === 'string' ? nearest(decision, decisions) : undefined;
    const guess = close === undefined ? 'known: block, continue' : `did you mean ${close}?`;
    return `Its answer cannot be read: decision is ${show(decision)}; ${guess}`;
  } catch {
    return 'Its answer cannot be read';
  }
}
