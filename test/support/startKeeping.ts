import { type CallSettings, defaultSettings } from '../../src/calls/callOptions.ts';
import type { CallPathOptions } from '../../src/calls/callPathOptions.ts';
import type { Outcome } from '../../src/policy/failures/failure.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { startIntegration } from './startIntegration.ts';

export const about = (request: unknown): { tool: string | undefined; input: unknown } => ({
  tool: String(request).split(':')[0],
  input: request,
});

/** An integration whose calls are kept for ten minutes; attempts have 3 s. */
export function startKeeping(policy: PolicyInput = {}, extra: Partial<CallPathOptions<string, string>> = {}) {
  const started = startIntegration(
    { limits: { idleMs: 3000, attemptMs: 3000, overallMs: 60_000 }, retry: { maxAttempts: 1 }, ...policy },
    undefined,
    { toolOf: (input) => input.split(':')[0], ...extra },
  );
  const given: string[] = [];
  const late: unknown[] = [];
  const make = (input: string, settings: Partial<CallSettings<string, string>> = {}) => {
    const ended: Outcome<string>[] = [];
    const { keep } = settings;
    const all: CallSettings<string, string> = {
      ...defaultSettings<string, string>(started.path.policy, 'mutating'),
      session: 's1',
      late: (value) => void late.push(value),
      ...settings,
      keep: {
        ms: 600_000,
        about,
        given: () => void given.push(input),
        failed: ({ message }) => void late.push(message),
        ...keep,
      },
    };
    const call = started.path.start(input, all, (outcome) => void ended.push(outcome));
    return { call, ended, outcome: () => ended[0] };
  };
  return { ...started, make, given, late };
}

export const failureIn = (outcome: Outcome<string> | undefined) =>
  outcome?.ok === false ? outcome.failure : undefined;
