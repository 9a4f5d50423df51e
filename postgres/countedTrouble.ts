import { failureKinds, ruleReasons } from '../src/policy/failures/face.ts';
import type { EventRow } from '../src/store/face.ts';

/**
 * Trouble that an event tells of somebody: a failure or a crash that counts, something else that went wrong with an integration, or a turn of a session that
 * failed.
 */
type Trouble = 'failure' | 'crash' | 'other' | 'turn';

interface CountedTrouble {
  readonly trouble: Trouble;
  /** The integration, `hook:NAME` of a hook; of a turn the session. */
  readonly of: string;
}

type Event = Omit<EventRow, 'id' | 'at'>;

/** Ended on request, or refused: that says what became of a call, not what went wrong. */
const noTrouble: ReadonlySet<unknown> = new Set(['cancelled', 'circuit_open', 'too_many_requests', 'unavailable']);

const harmless: ReadonlySet<unknown> = new Set(
  Object.entries(failureKinds).flatMap(([kind, { alerts }]) => (alerts ? [] : [kind])),
);

/** Tells what an event counts as, for an engine that writes it beside the event. SQLite asks the same in SQL (`reader/sqlite/counting.ts`). */
export function troubleIn(event: Event): CountedTrouble | undefined {
  const trouble = kindOfTrouble(event);
  const of = trouble === 'turn' ? event.metadata['session'] : ownerOf(event);
  return trouble === undefined || typeof of !== 'string' ? undefined : { trouble, of };
}

/** Shows what went wrong: its kind and its words, those of what a call met last where that is not what it ended with. */
export function lastErrorIn(
  trouble: unknown,
  { kind: ended, met_kind: kind = ended, met_error: met, error, message }: EventRow['metadata'],
): { readonly kind: string | undefined; readonly error: string } {
  const said = met ?? error ?? message ?? null;
  return {
    kind: trouble === 'crash' ? 'crash' : typeof kind === 'string' ? kind : undefined,
    error: typeof said === 'string' ? said : JSON.stringify(said),
  };
}

/** Hooks have circuits under a name of their own. */
function ownerOf({ category, metadata }: Event): unknown {
  const { hook_name: hook, integration } = metadata;
  if (category !== 'hook') return integration;
  return typeof hook === 'string' ? `hook:${hook}` : undefined;
}

function kindOfTrouble({ category, type, metadata }: Event): Trouble | undefined {
  const { error, reason, integration } = metadata;
  switch (`${category}/${type}`) {
    // A turn that an operator ended has been seen by one.
    case 'session/turn_failed':
      return reason === 'by_operator' ? undefined : 'turn';
    case 'integration/crashed':
    case 'integration/restart_failed':
      return 'crash';
    // Calls that end because the circuit opened have no other record of what opened it.
    case 'breaker/opened':
      return error === undefined || error === null ? undefined : 'other';
    case 'hook/error':
      return failureOf(metadata);
    // A hook of a gateway has two records of the same: one of its call, and one of its own.
    case 'integration/failure':
      return typeof integration === 'string' && /^hook:/i.test(integration) ? undefined : failureOf(metadata);
    default:
      return undefined;
  }
}

/** Counts one that is recorded without a kind, or with one of a newer version, but none that is recorded as nobody's failure. */
function failureOf({ kind: ended, met_kind: kind = ended, alerts, reason }: Event['metadata']): Trouble | undefined {
  if (noTrouble.has(kind) || ruleReasons.some((each) => each === reason)) return undefined;
  return alerts === false || harmless.has(kind) ? 'other' : 'failure';
}
