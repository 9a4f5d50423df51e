import { isThenable } from '../../calls/observe.ts';
import type { AttemptContext, Operation } from '../../calls/operation.ts';
import type { Clock } from '../../policy/clock.ts';
import { redactorOf } from '../../redaction/requestSecrets.ts';
import { isResponse } from '../../streams/chunkSource.ts';
import { failureOf, usualFailureLimits } from './fetchFailure.ts';

/** The same operation for answers that are read as streams: a response that is not ok is thrown, with the beginning of its body. */
export function refusedStream<I>(
  operation: Operation<I, unknown>,
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>,
): Operation<I, unknown> {
  const judged = async (answer: PromiseLike<unknown>, context: AttemptContext): Promise<unknown> => {
    const response = await answer;
    if (!isResponse(response) || response.ok) return response;
    const { signal } = context;
    throw await failureOf(response, { ...usualFailureLimits, signal, clock, redact: redactorOf(response.url) });
  };
  return (input, context) => {
    const answer = operation(input, context);
    // A value that is no response needs no turn of its own.
    return isThenable(answer) || isResponse(answer) ? judged(Promise.resolve(answer), context) : answer;
  };
}
