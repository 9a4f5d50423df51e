import type { Failure } from '../../src/policy/failure.ts';
import { failureLine } from '../run/lastWords.ts';
import { sanitize } from '../sanitize.ts';
import { failuresOf } from '../../agents/conversation/agentFallback.ts';
import { sdkPackage } from '../../agents/conversation/claude/claudeSdkModule.ts';
import type { AgentPlan } from './plan.ts';

type Named = Pick<AgentPlan, 'command' | 'name' | 'backend'>;

const acted = 'it may have changed something: what it did last is to be checked before it is asked again';

/** Writes one line, or one for each of two that failed, which then says whose it is. */
export function failureLines(failure: Failure, plan: Named): readonly string[] {
  const failures = failuresOf(failure);
  const [only] = failures;
  const lines =
    failures.length === 1 && only !== undefined
      ? [lineOf(only, plan)]
      : failures.map(
          (each, place) => `${sanitize(each.integration)} failed${place === 0 ? '' : ' too'}: ${lineOf(each, plan)}`,
        );
  return failures.some(mayHaveActed) ? [...lines, acted] : lines;
}

/** Tells whether the work of the turn may have taken effect: to ask once more would do that again. */
const mayHaveActed = ({ outcome }: Failure): boolean => outcome === 'unknown' || outcome === 'done';

function lineOf(failure: Failure, plan: Named): string {
  const { kind, code, integration } = failure;
  const { command, name, backend } = plan;
  const isClaude = integration === (backend === 'claude' ? name : 'claude');
  const missing = kind === 'spawn' && code === 'ENOENT' && isClaude && (command === undefined || backend !== 'claude');
  if (missing)
    return `claude is not there: npm install ${sdkPackage} beside unwedge, or put the program claude on the PATH`;
  return failureLine(failure, { agent: backend, effects: mayHaveActed(failure) ? 'possible' : 'none' });
}
