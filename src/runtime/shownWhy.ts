import type { SessionWhy } from '../sessions/why.ts';
import type { FactRedactor } from '../redaction/redactFact.ts';
import { keptApart } from '../redaction/shownNames.ts';

/** Shows what a session waits for, without secrets. Rules stay apart, so that an order can name each of them. */
export function shownWhy(why: SessionWhy, redact: FactRedactor): SessionWhy {
  const clean = redact(why);
  const rules = clean.rules.map((rule, index) => ({
    ...rule,
    id: keptApart(why.rules[index]?.id ?? rule.id, rule.id),
  }));
  return { ...clean, rules, ...(rules.length > 0 && { next: rules[0] }) };
}
