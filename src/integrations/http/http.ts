import type { CallPath } from '../../calls/callPath.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { superviseIntegration } from '../../runtime/superviseIntegration.ts';
import { checkHttpOptions, type HttpAnswer, type HttpOptions, type HttpParse } from './httpOptions.ts';
import { type HttpRequest, prepareRequest } from './httpRequest.ts';
import { readAnswer } from './readAnswer.ts';
import { variablesOf } from './requestSecrets.ts';
import { sendRequest } from './sendRequest.ts';

/**
 * An HTTP API as an integration. Sending ends with the headers of the answer, reading with its body: both within the attempt, so that its
 * limits end either, and with it the connection.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseHttp<P extends HttpParse>(
  runtime: Runtime,
  name: string,
  given: HttpOptions<P>,
): CallPath<HttpRequest, HttpAnswer<P>> {
  const options = checkHttpOptions(name, given);
  const { baseUrl, headers = {} } = options;
  const policy = runtime.policies.policyOf(name, options.policy, 'sdk');
  const own = Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  // Those of single calls are taken out of their own failures: so many would push those of the environment out.
  for (const variables of variablesOf(baseUrl, own)) runtime.secrets.learn(variables);
  const sending = { options, clock: runtime.clock };

  return superviseIntegration(runtime, {
    name,
    about: { type: 'http' },
    policy,
    operation: async (request: HttpRequest, context) => {
      const prepared = prepareRequest(name, request, options);
      const response = await sendRequest(prepared, sending, context);
      return (await readAnswer(response, prepared.method, options, context)) as HttpAnswer<P>;
    },
  });
}
