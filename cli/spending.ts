import { type BudgetInput, budgetIn, limitIn } from '../src/policy/face.ts';
import { UsageError } from './errors.ts';
import { quoted } from './sanitize.ts';

/** @param prices - those that are configured: without them nothing costs money. @param isTold - whether the output tells of calls. @throws {@link UsageError} that names the wrong limit. */
export function spendOf(
  given: string | undefined,
  prices: BudgetInput['prices'] = {},
  isTold = true,
): BudgetInput | undefined {
  if (given === undefined) return undefined;
  const wrong = given.split(',').find((each) => limitIn(each) === undefined);
  if (wrong !== undefined)
    throw new UsageError(`Expected \`--spend\` to be limits as tokens=200k,rounds=300/day, got ${quoted(wrong)}`);
  if (!isTold && /(?:^|,)(?!requests)/.test(given))
    throw new UsageError(
      'Expected `--spend` to be of requests alone: this output tells nothing of calls (see --agent)',
    );
  if (given.includes('money') && Object.keys(prices).length === 0)
    throw new UsageError('Expected `--spend money` to have prices: policies.integrations.NAME.budget.prices');
  return budgetIn(given);
}
