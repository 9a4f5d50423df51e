import type { CallPath } from '../../calls/callPath.ts';
import { costsSaidBy } from '../../calls/integrationRates.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { ratePartsOf } from '../../calls/rateOptions.ts';
import { superviseIntegration } from '../../runtime/superviseIntegration.ts';
import { checkHttpOptions, type HttpAnswer, type HttpOptions, type HttpParse } from './httpOptions.ts';
import type { StreamedBy } from './httpIntegration.ts';
import { type HttpRequest, prepareRequest } from './httpRequest.ts';
import { readAnswer } from './readAnswer.ts';
import { ownHeaderValues, variablesOf } from '../../redaction/requestSecrets.ts';
import { KeptConnections } from '../../streams/keptConnections.ts';
import { sendRequest } from './sendRequest.ts';
import { serverOf } from './serverOf.ts';
import { lateModule } from '../../actors/process/lateModule.ts';

const readStreamModule = lateModule(() => import('./readStream.ts'));

/** An HTTP API: where its calls go, and what answers those whose answer is read as it comes. */
export interface SupervisedHttp<P extends HttpParse> {
  readonly path: CallPath<HttpRequest, HttpAnswer<P>>;
  readonly streamedBy: StreamedBy;
}

/**
 * An HTTP API as an integration. Sending ends with the headers of the answer, reading with its body: both within the attempt, so that its
 * limits end either, and with it the connection.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseHttp<P extends HttpParse>(
  runtime: Runtime,
  name: string,
  given: HttpOptions<P>,
): SupervisedHttp<P> {
  const options = checkHttpOptions(name, given);
  const { baseUrl, headers = {} } = options;
  const { spent, ...limits } = options.rate ?? {};
  const rate = ratePartsOf(options.policy, options.rate && limits, {});
  const policy = runtime.policies.policyOf(name, rate.policy, 'sdk');
  const own = Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  // Values of single calls are taken out of their own failures: so many would push those of the environment out.
  for (const variables of variablesOf(baseUrl, own)) runtime.secrets.learn(variables);
  runtime.secrets.learnValues(ownHeaderValues(own));
  const kept = new KeptConnections();
  const sending = { options, clock: runtime.clock, kept };

  const streamedBy: StreamedBy = (reading) => async (request, context) => {
    // The parser of events is loaded with the first stream.
    const { asksForStream, readStream } = await readStreamModule();
    const prepared = prepareRequest(name, request, options);
    asksForStream(prepared, reading);
    return readStream(await sendRequest(prepared, sending, context), prepared, reading, sending, context);
  };

  const path = superviseIntegration(runtime, {
    name,
    about: { type: 'http', server: serverOf(baseUrl) },
    policy,
    shares: 'circuit',
    rate: { ...rate.functions, settles: spent !== undefined || options.events?.spent !== undefined },
    operation: async (request: HttpRequest, context) => {
      const prepared = prepareRequest(name, request, options);
      const response = await sendRequest(prepared, sending, context);
      const answer = (await readAnswer(response, prepared.method, options, context)) as HttpAnswer<P>;
      if (spent !== undefined) context.spent(costsSaidBy(() => spent(answer as never)));
      return answer;
    },
    streamed: streamedBy({}),
    onStop: () => kept.close(),
  });
  return { path, streamedBy };
}
