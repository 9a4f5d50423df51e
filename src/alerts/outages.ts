import type { OpenAlert } from '../policy/records/alertRecord.ts';
import { countsForAlerts } from '../policy/alerts.ts';
import type { Clock, Timer } from '../policy/clock.ts';
import { formatDuration } from '../policy/text/duration.ts';
import type { FailureKind } from '../policy/failures/failure.ts';
import type { Bus } from '../telemetry/bus.ts';
import { circuitOf } from '../calls/integration.ts';
import type { RegisteredPath } from '../runtime/runtime.ts';

/** A circuit that refuses calls, or that stays open: what an alert says of it. */
export type Outage = Pick<OpenAlert, 'integration' | 'kind' | 'message'>;

export interface OutagesParts {
  readonly clock: Clock;
  readonly bus: Pick<Bus, 'on'>;
  /** Tells how far an integration refuses calls. */
  readonly refusing: (integration: string) => Refusing | undefined;
  /** Is told of an outage, and again whenever it has refused more calls: an alert that was cleared while nobody called is raised anew. Must not throw. */
  readonly met: (outage: Outage) => void;
  /** Is told when no circuit of an integration is open any more. Must not throw. */
  readonly over: (integration: string) => void;
}

/** An open circuit from its opening until it closes; a probe that fails opens it no second time. */
interface OpenCircuit {
  readonly integration: string;
  kind: FailureKind;
  cause: string | undefined;
  readonly openedAt: number;
  /** Time after which it is open for too long, in ms. */
  readonly resetMs: number;
  /** Calls that were refused before it opened, or before it was told of last. */
  refusedBefore: number;
  isTold: boolean;
  timer: Timer | undefined;
}

/** Time between two looks at an open circuit, in ms: an outage is an alert within a minute. */
const lookMs = 10_000;
/** The usual reset timeout (M-2), in ms: a circuit that an upstream's hint keeps open for hours is an alert no later. */
const usualResetMs = 60_000;

/** Watches open circuits. One that has refused calls, or is open for longer than one reset time, is told of: few calls fail while it refuses the others. */
export class Outages {
  readonly #parts: OutagesParts;
  readonly #open = new Map<string, OpenCircuit>();
  readonly #removers: readonly (() => void)[];

  constructor(parts: OutagesParts) {
    const { bus } = parts;
    this.#parts = parts;
    this.#removers = [
      bus.on('breaker.opened', ({ integration, kind, cause, openForMs }) => {
        // An operator knows of the one that is held open.
        if (kind !== 'isolated') this.#opened(integration, kind, cause, openForMs);
      }),
      // The circuit was open before the watch began, or another process has opened it.
      bus.on('call.refused', ({ integration, kind }) => {
        if (kind === 'circuit_open' && !this.#open.has(integration)) this.#opened(integration, 'unknown');
      }),
      bus.on('breaker.closed', ({ integration }) => {
        // Another of its circuits may be open.
        if (parts.refusing(integration)?.because === undefined) this.#closed(integration);
      }),
    ];
  }

  stop(): void {
    for (const remove of this.#removers) remove();
    for (const { timer } of this.#open.values()) this.#parts.clock.clearTimeout(timer);
    this.#open.clear();
  }

  #opened(integration: string, kind: FailureKind, cause?: string, openForMs = usualResetMs): void {
    if (!countsForAlerts(kind)) return;
    const known = this.#open.get(integration);
    if (known !== undefined) {
      known.kind = kind;
      known.cause = cause ?? known.cause;
      return;
    }
    const circuit: OpenCircuit = {
      integration,
      kind,
      cause,
      openedAt: this.#parts.clock.now(),
      resetMs: Math.min(openForMs, usualResetMs),
      refusedBefore: this.#parts.refusing(integration)?.refused ?? 0,
      isTold: false,
      timer: undefined,
    };
    this.#open.set(integration, circuit);
    this.#lookLater(circuit);
  }

  #closed(integration: string): void {
    const circuit = this.#open.get(integration);
    if (circuit === undefined) return;
    this.#parts.clock.clearTimeout(circuit.timer);
    this.#open.delete(integration);
    this.#parts.over(integration);
  }

  #lookLater(circuit: OpenCircuit): void {
    circuit.timer = this.#parts.clock.setTimeout(() => this.#look(circuit), lookMs, { ref: false });
  }

  #look(circuit: OpenCircuit): void {
    const { integration, kind, cause, openedAt, resetMs, refusedBefore, isTold } = circuit;
    const state = this.#parts.refusing(integration);
    if (state?.because === undefined || state.because.isHeld === true) {
      this.#closed(integration);
      return;
    }
    const openMs = this.#parts.clock.now() - openedAt;
    const refused = state.refused - refusedBefore;
    this.#lookLater(circuit);
    if (refused === 0 && (isTold || openMs <= resetMs)) return;
    circuit.isTold = true;
    circuit.refusedBefore = state.refused;
    const calls = refused === 1 ? '1 call' : `${refused} calls`;
    const words = `${state.because.now}${refused === 0 ? `, for ${formatDuration(openMs)} now` : ` and refused ${calls}`}`;
    this.#parts.met({ integration, kind, message: cause === undefined ? words : `${words}: ${cause}` });
  }
}

/** Extent to which an integration refuses calls, which then cannot fail. */
export interface Refusing {
  /** Calls that were refused since its start. */
  readonly refused: number;
  /** Why it refuses, in words; absent while its circuit and those of its tools are closed. */
  readonly because?: Because | undefined;
}

interface Because {
  /** State of now, such as `its circuit is open`. */
  readonly now: string;
  /** Event that ends it, such as `its circuit has closed`. */
  readonly until: string;
  /** True while an operator holds the circuit open. @defaultValue false */
  readonly isHeld?: boolean | undefined;
}

/** Tells how far it refuses calls now; its own circuit is told before those of its tools. */
export function refusing({ link, openTools, stats }: Pick<RegisteredPath, 'link' | 'openTools' | 'stats'>): Refusing {
  const { refused } = stats;
  const circuit = circuitOf(link);
  if (circuit === 'crashed') return { refused, because: { now: 'it is down', until: 'it is back' } };
  if (circuit !== 'closed') {
    return {
      refused,
      because: {
        now: 'its circuit is open',
        until: 'its circuit has closed',
        ...(circuit === 'isolated' && { isHeld: true }),
      },
    };
  }
  const [first, ...others] = openTools;
  if (first === undefined) return { refused };
  const one = `the circuit of its tool ${first.tool}`;
  const all = 'circuits of its tools';
  return others.length > 0
    ? { refused, because: { now: `${all} are open`, until: `the ${all} have closed` } }
    : { refused, because: { now: `${one} is open`, until: `${one} has closed` } };
}
