import type { Finding } from './finding.ts';

/** What else is known of an answer: by the name of its error, or by its words. */
type Said = Pick<Finding, 'kind' | 'reason' | 'outcome' | 'code' | 'isAnyWindow'>;

/** Kinds of an answer that hide what its body says. */
const vague: ReadonlySet<string> = new Set(['permanent', 'auth', 'rate_limit']);

/**
 * An answer, made more exact by the name of its error: 400 hides a throttled request, a spent quota and an expired key (AWS, Google), 503 a
 * request to slow down.
 */
export function sharpenedByName(found: Finding, named: Said | undefined): Finding {
  if (named === undefined) return found;
  const { status = 0, kind } = found;
  const code = found.code ?? named.code;
  const isMore =
    (named.kind === 'rate_limit' && (status === 400 || status === 403 || status === 503)) ||
    (named.kind === 'auth' && status === 400) ||
    (named.kind === 'overloaded' && kind !== 'auth') ||
    (named.kind === 'timeout' && status === 408) ||
    (named.kind === 'permanent' && named.reason === 'not_found' && kind === 'permanent');
  return isMore
    ? { ...found, kind: named.kind, outcome: named.outcome, reason: named.reason, code }
    : telling(found, named);
}

/** An answer, made more exact by its words: 400 hides an unpaired history and a full context, 429 an exhausted quota, 400 and 403 billing, 503 a model without room. */
export function sharpenedByWords(found: Finding, said: Said | undefined): Finding {
  if (said === undefined) return found;
  const { status } = found;
  const code = found.code ?? said.code;
  const isMore =
    (status === 503 && said.kind === 'overloaded') ||
    (status === 403 && said.kind === 'rate_limit') ||
    (status === 400 && said.kind === 'auth');
  return isMore ? { ...found, kind: said.kind, reason: said.reason, code } : telling(found, said);
}

function telling(found: Finding, said: Said): Finding {
  const code = found.code ?? said.code;
  const isTelling =
    said.kind === 'quota' || (said.kind === 'permanent' && said.reason !== undefined && said.reason !== 'not_found');
  // Google says `quota` of each of its limits, and names those of a minute.
  const isNamed = said.isAnyWindow === true && /rate_?limit/i.test(String(found.code));
  if (!vague.has(found.kind) || !isTelling || isNamed) return { ...found, code };
  return { ...found, kind: said.kind, reason: said.reason, code, isAnyWindow: said.isAnyWindow };
}
