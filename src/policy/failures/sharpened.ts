import type { Finding } from './finding.ts';
import { isOfAccount, payerText } from './limitTexts.ts';

/** Further facts of an answer: by the name of its error, or by its words. */
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
  if (status === 402 && named.kind === 'permanent' && payerName.test(String(named.code)))
    return refusedPayer(found, code);
  const isMore =
    (named.kind === 'rate_limit' && (status === 400 || status === 403 || status === 503)) ||
    (named.kind === 'auth' && status === 400) ||
    (named.kind === 'overloaded' && kind !== 'auth') ||
    (named.kind === 'timeout' && (status === 408 || status === 400)) ||
    (named.kind === 'permanent' && named.reason === 'not_found' && kind === 'permanent');
  return isMore
    ? { ...found, kind: named.kind, outcome: named.outcome, reason: named.reason, code }
    : telling(found, named);
}

/** Names of what is wrong with the card of whoever pays. */
const payerName = /card|decline|instrument|payment_?method_?error/i;

/** The means of payment of one customer says nothing of the account that asked; and nothing else in it is of that account. */
function refusedPayer(found: Finding, code: Finding['code']): Finding {
  return { ...found, kind: 'permanent', reason: undefined, code, settled: true };
}

/** Statuses whose words alone say that the account has nothing left; those of a 404 or 409 are about what was asked for. */
const spent: ReadonlySet<number> = new Set([400, 402, 403, 429]);

/** An answer, made more exact by its words: 400 hides an unpaired history and a full context, 429 an exhausted quota, 400 and 403 billing, 503 a model without room. */
export function sharpenedByWords(found: Finding, said: Said | undefined, words: string): Finding {
  if (said === undefined) return found;
  const { status } = found;
  const code = found.code ?? said.code;
  if (status === 402 && payerText.test(words)) return refusedPayer(found, found.code);
  if (said.kind === 'quota' && !mayBeSpent(found, words)) return { ...found, code: found.code };
  const isMore =
    (status === 503 && (said.kind === 'overloaded' || said.kind === 'rate_limit')) ||
    (status === 403 && said.kind === 'rate_limit') ||
    (status === 400 && said.kind === 'auth') ||
    // An error inside, of whatever the server asked.
    (code === -32_603 && (said.kind === 'rate_limit' || said.kind === 'overloaded' || said.kind === 'quota'));
  return isMore ? { ...found, kind: said.kind, reason: said.reason, code } : telling(found, said);
}

function mayBeSpent({ status, kind }: Finding, words: string): boolean {
  if (status === 402 || status === 429 || (status === undefined && kind !== 'permanent')) return true;
  return (status === undefined || spent.has(status)) && isOfAccount(words);
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
