import type { SessionWhy } from '../sessions/why.ts';
import type { FactRedactor } from '../store/redactFact.ts';
import { keptApart } from '../store/shownNames.ts';

/** What a session waits for, without secrets. Rules stay apart, so that an order can name each of them. */
export function shownWhy(why: SessionWhy, redact: FactRedactor): SessionWhy {
  const clean = redact(why);
  const rules = clean.rules.map((rule, index) => ({
    ...rule,
    id: keptApart(why.rules[index]?.id ?? rule.id, rule.id),
  }));
  return { ...clean, rules, next: rules[0] };
}

/** The rule or the pending call of a session that is shown so; anything else means itself. */
export function meantBy(target: string, why: SessionWhy, redact: FactRedactor): string {
  const shown = shownWhy(why, redact);
  const rule = shown.rules.findIndex(({ id }) => id === target);
  if (rule >= 0) return why.rules[rule]?.id ?? target;
  const call = shown.calls.findIndex((each) => each.call === target);
  return why.calls[call]?.call ?? target;
}
