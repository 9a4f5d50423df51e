import { describe, expect, it } from 'vitest';
import { failureLines } from '../../../cli/agent/printer.ts';
import { type Failure, type FailureKind, failureKinds } from '../../../src/policy/failures/failure.ts';

const plan = { name: 'codex', backend: 'codex', command: undefined } as const;
const failure = (fields: Partial<Failure>): Failure => ({
  ...{ kind: 'timeout', message: 'It took too long', outcome: 'unknown', integration: 'codex', attempts: 1 },
  retryable: false,
  ...fields,
});
const check = 'it may have changed something: what it did last is to be checked before it is asked again';

describe('the last words of unwedge agent', () => {
  it.each(Object.keys(failureKinds) as FailureKind[])(
    '[L-4] [R-12] do not advise to try again a turn that may have had its effect: %s',
    (kind) => {
      for (const reason of [undefined, 'empty_response'] as const)
        expect(failureLines(failure({ kind, reason }), plan)).toEqual([
          expect.not.stringMatching(/may help|again later/),
          check,
        ]);
    },
  );

  it('[L-4] advise it where the turn did nothing, or was not begun', () => {
    for (const outcome of ['failed', 'not_started'] as const)
      expect(failureLines(failure({ outcome }), plan)).toEqual(['timeout: It took too long; trying again may help']);
  });
});
