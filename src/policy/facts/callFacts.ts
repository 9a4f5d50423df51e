import type { Failure, FailureKind, FailureReason } from '../failures/failure.ts';
import type { IntegrationType } from '../integrationAbout.ts';

/** Facts of calls. */
export interface CallFacts {
  /** An attempt failed and the call will try again after `delayMs` (`null`: when the integration has restarted). */
  'call.retried': CallFact & { attempt: number; kind: FailureKind; message: string; delayMs: number | null };
  /** The first chunk of a stream has come, `afterMs` after the call, waits and retries included. */
  'call.first_chunk': CallFact & { attempt: number; afterMs: number };
  /** A call hangs: half of the first limit that ends it has passed. Once for each call. `rule` ends its wait in `nextInMs` if nothing else does. */
  'call.pending': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    /** 0 before the first. */
    attempt: number;
    /** An attempt is in flight, or what the call waits for. */
    waitsFor:
      | 'in_flight'
      | 'backoff'
      | 'pause'
      | 'restart'
      | 'permit'
      | 'probe'
      | 'scope'
      | 'suspect'
      | 'rate'
      | 'reconciling';
    elapsedMs: number;
    /** For how long the attempt in flight has shown no sign of life. */
    silentMs?: number | undefined;
    rule: FailureReason | 'next_attempt' | 'restart_wait' | 'rate_limit' | 'reconcile' | 'ping';
    /** Length of the limit, where `rule` is one. */
    limitMs?: number | undefined;
    nextInMs: number;
    /** Time when the server is asked before that whether it lives; one that does not answer is killed. Undefined where the silence itself ends the call. */
    pingInMs?: number | undefined;
  };
  /** The answer of a call was lost, and its reconcile rule is asked what became of it: `asks` names what is asked. */
  'call.reconciling': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    /** The one whose answer was lost. */
    attempt: number;
    asks: string;
    kind: FailureKind;
    message: string;
  };
  /** It is known what became of a call, or it is asked no longer (`unknown`). */
  'call.reconciled': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    verdict: 'done' | 'not_done' | 'unknown';
    /** Words on how it is known. */
    how: string;
    /** Since the answer was lost. */
    afterMs: number;
    probes: number;
    /** The caller had been answered before. */
    late: boolean;
  };
  /** A limit ended a call whose work goes on for `forMs`: the same call of its session joins it. `id`: its id in the session, or that of the call. */
  'call.kept': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    attempt: number;
    id: string;
    /** By which the same call is known: SHA-256 of tool and input, as base64. */
    inputKey?: string | undefined;
    forMs: number;
  };
  /** A call was not made: the same one (`of`, its `id`), made `agoMs` before, is `running` still and it waits for that, or it was given what that came to. */
  'call.joined': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    of: string;
    found: 'running' | 'done' | 'failed' | 'not_done' | 'unknown';
    agoMs: number;
  };
  /** A call is kept no longer. `settled`: it became known otherwise what it had done. `waited`: calls that had joined it. */
  'call.kept_ended': CallFact & {
    /** The tool that was called. */
    tool?: string | undefined;
    id: string;
    how: 'answered' | 'failed' | 'expired' | 'lost' | 'cancelled' | 'settled';
    /** Since its limit passed. */
    afterMs: number;
    waited: number;
  };
  /** A call ended with a value. */
  'call.succeeded': CallFact & { attempts: number; elapsedMs: number };
  /** A call ended with a failure: the one final record. `stack` where an error was thrown. */
  'call.failed': CallFact & {
    failure: Failure;
    retryCount: number;
    elapsedMs: number;
    stack?: string | undefined;
    /** Kind of the integration. */
    integrationType?: IntegrationType | undefined;
    /** The tool that was called. */
    tool?: string | undefined;
    provider?: string | undefined;
    model?: string | undefined;
    /** The limit that passed, and where it was set. */
    limit?: string | undefined;
  };
  /** The first call of an episode was refused before dispatch; `refused` counts the ones before it that were not told. */
  'call.refused': CallFact & {
    kind: FailureKind;
    message: string;
    retryAfterMs?: number | undefined;
    /** Only where the next one will get no further: its program is not there. */
    retryable?: false | undefined;
    refused: number;
  };
  /** An attempt that had been given up ended after all; its result is not delivered to its call, and where it was kept to an equal one. */
  'call.late': CallFact & { attempt: number; ok: boolean; lateByMs: number; error?: string | undefined };
  /** The work of an attempt outlived abort and grace; its place is given to others. */
  'call.abandoned': CallFact & { attempt: number; abandoned: number };
  /** The text that a model streams became one passage over and over; once a stream. `characters`: the length of the passage. */
  'call.repeats_itself': CallFact & { characters: number };
  /** A fallback answered in place of the integration. */
  'call.fell_back': CallFact & { kind: FailureKind };
}

/** Fields that the facts of one call have in common. */
export interface CallFact {
  integration: string;
  /** Unique within the runtime. */
  call: string;
  /** Name that the caller gave it. */
  label?: string | undefined;
  session?: string | undefined;
}
