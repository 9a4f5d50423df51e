import { checkGatewayOptions } from '../gatewayOptions.ts';
import type { ConfigOptions } from './configTypes.ts';
import { contradiction, type Teller, valueAt, wrongValue } from './issues.ts';
import { pathIn, policyMistakes, type Thrown, thrownBy } from './policyMistakes.ts';
import type { ConfigProblem } from './problems.ts';

/** Who tells of what is at a path. */
export type TellerOf = (path: Path) => Teller;

type Path = readonly (string | number)[];

/** What the checks of `createGateway` say of values that are right each on its own: all that can be known at once. */
export function contradictions(
  options: ConfigOptions,
  tellerOf: TellerOf,
  isDoubtful: (path: Path) => boolean,
): readonly ConfigProblem[] {
  const { policies, ...others } = options;
  const found = Object.entries(others).flatMap(([name, value]): Thrown[] => {
    // One at a time, so that one that is wrong hides no other.
    const error = thrownBy(() => checkGatewayOptions({ [name]: value }));
    return error === undefined ? [] : [{ error, base: [name] }];
  });
  return [...found, ...(policies === undefined ? [] : policyMistakes(policies))]
    .map((each) => ({ ...each, path: pathIn(each) }))
    .filter(({ path, isCertain }) => isCertain === true || !isDoubtful(path))
    .map(({ error, base, path }) => {
      const text = error.message.replaceAll(`${base.join('.')}.`, '').replaceAll('`', '');
      return problemOf(text, path, valueAt(options, path), tellerOf(path));
    });
}

/** Reads `Expected path to be what, got value`; what is said in another way is told as it is. */
function problemOf(message: string, path: Path, value: unknown, teller: Teller): ConfigProblem {
  const [, what, got = ''] = /^Expected .*? to be (.+), got ([^,]*)$/s.exec(message) ?? [];
  if (what !== undefined) {
    const expected = what.startsWith('above ') ? `a value ${what}` : what;
    if (value !== undefined) return wrongValue(path, value, expected, teller);
    return contradiction(path, value, expected, `expected ${expected}, got ${got} by default`, teller);
  }
  const text = message.charAt(0).toLowerCase() + message.slice(1);
  return contradiction(path, value, text.replace(/^expected /, ''), text, teller);
}
