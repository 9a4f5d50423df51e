import type { CountedFailure } from '../records/breakerCause.ts';
import type { BreakerRule } from '../breakerRule.ts';
import type { FailureKind } from '../failures/failure.ts';

/** Facts of integrations and their circuits. */
export interface IntegrationFacts {
  /** The machine of an integration changed its state. */
  'integration.changed': { integration: string; from: string; to: string };
  /** The circuit opened, of `tool` alone where named: calls are refused for `openForMs`, or until released (`isolated`), by `rule`. `cause`: the last of `failures`. */
  'breaker.opened': {
    integration: string;
    tool?: string | undefined;
    openForMs: number;
    kind: FailureKind | 'isolated';
    rule?: BreakerRule | undefined;
    cause?: string | undefined;
    failures?: readonly CountedFailure[] | undefined;
  };
  /** A probe is on its way: what it meets closes the circuit or opens it again. */
  'breaker.half_opened': { integration: string; tool?: string | undefined };
  /** The circuit closed: a probe went well, it was reset, or its process restarted. */
  'breaker.closed': { integration: string; tool?: string | undefined };
  /** Another process on the same store opened or closed the circuit, or was asked to pause: that holds here as well, for `forMs`. */
  'breaker.adopted': {
    integration: string;
    state: 'open' | 'closed' | 'paused';
    forMs?: number | undefined;
    rule?: BreakerRule | undefined;
    cause?: string | undefined;
  };
  /** The other side asked for a pause (429). */
  'integration.paused': { integration: string; pauseMs: number };
  /** Calls wait for its rate limit: the latest for `waitMs`, `calls` of them since it was last told. At most every 10 s. */
  'integration.rate_limited': {
    integration: string;
    of: string;
    limit: number;
    perMs: number;
    waitMs: number;
    calls: number;
  };
  /** The process or connection behind it is gone. */
  'integration.crashed': { integration: string; message: string };
  /** It was started again, and is gone again before it was back. */
  'integration.restart_failed': { integration: string; message: string };
  /** The process or connection behind it is back. */
  'integration.restarted': { integration: string; downMs: number };
}
