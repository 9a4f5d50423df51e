/** Part of a rule of a script about the messages that it befalls. */
interface CountedRule {
  /** Choice among the messages that match the rest of the rule, from 1. */
  readonly nth?: number | readonly number[] | undefined;
}

/**
 * Finds the first rule that befalls a message, and counts for each rule the messages that match it.
 * @param isDue - whether a rule that matches is in force now; a message counts for it in any case.
 */
export function createFaultPicker<R extends CountedRule, M>(
  rules: readonly R[],
  matches: (rule: R, message: M) => boolean,
  isDue: (rule: R) => boolean = () => true,
): (message: M) => R | undefined {
  const seen = rules.map(() => 0);
  return (message) => {
    let picked: R | undefined;
    for (const [index, rule] of rules.entries()) {
      if (!matches(rule, message)) continue;
      const count = (seen[index] ?? 0) + 1;
      seen[index] = count;
      if (!isDue(rule)) continue;
      if (rule.nth === undefined || [rule.nth].flat().includes(count)) picked ??= rule;
    }
    return picked;
  };
}
