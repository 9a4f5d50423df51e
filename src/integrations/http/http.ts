import { lateModule } from '../../actors/process/lateModule.ts';
import type { CallPath } from '../../calls/callPath.ts';
import { costsSaidBy } from '../../calls/integrationRates.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import { ratePartsOf } from '../../calls/rateOptions.ts';
import { AttemptError } from '../../policy/failure.ts';
import { ownHeaderValues, variablesOf } from '../../redaction/requestSecrets.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { superviseIntegration } from '../../runtime/superviseIntegration.ts';
import { KeptConnections } from '../../streams/keptConnections.ts';
import { dropBody, readBody } from '../../streams/readBody.ts';
import type { StreamedBy } from './httpIntegration.ts';
import { checkHttpOptions, type HttpAnswer, type HttpBodies, type HttpOptions, type HttpParse } from './httpOptions.ts';
import { type HttpRequest, prepareRequest } from './httpRequest.ts';
import { sendRequest } from './sendRequest.ts';
import { serverOf } from './serverOf.ts';

const readStreamModule = lateModule(() => import('./readStream.ts'));

/** An HTTP API: where its calls go, and what answers those whose answer is read as it comes. */
interface SupervisedHttp<P extends HttpParse> {
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

/** Options for reading the answers of one integration. */
interface AnswerOptions {
  readonly parse: HttpParse;
  readonly maxBodyBytes: number;
}

/**
 * Reads an answer to its end; each chunk is a sign of life.
 * @param method - of the request; the answer to a `HEAD` has no body.
 * @throws {@link AttemptError} when the body is too long or no JSON; what its connection broke with.
 */
async function readAnswer(
  response: Response,
  method: string,
  { parse, maxBodyBytes }: AnswerOptions,
  { signal, touch }: Pick<AttemptContext, 'signal' | 'touch'>,
): Promise<HttpAnswer<HttpParse>> {
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  if (parse === 'response') return { status, headers, body: response };
  const isEncoded = response.headers.has('content-encoding');
  if (!isEncoded && method !== 'HEAD' && Number(response.headers.get('content-length')) > maxBodyBytes) {
    dropBody(response);
    throw tooLong(status, maxBodyBytes);
  }
  const { bytes, end, error } = await readBody(response, { maxBytes: maxBodyBytes, signal, heard: touch });
  if (end === 'stopped') throw signal.reason;
  if (end === 'broken') throw error;
  if (end === 'full') throw tooLong(status, maxBodyBytes);
  return { status, headers, body: bodyOf(response, method, parse, bytes) };
}

function bodyOf(
  { status, headers }: Response,
  method: string,
  parse: Exclude<HttpParse, 'response'>,
  bytes: Uint8Array<ArrayBuffer>,
): HttpBodies[HttpParse] {
  if (parse === 'bytes') return bytes;
  const text = new TextDecoder().decode(bytes);
  if (parse === 'text') return text;
  const hasNone = method === 'HEAD' || [204, 205, 304].includes(status) || headers.get('content-length') === '0';
  if (text === '' && hasNone) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Errors of JSON.parse quote the body, which is not ours to show.
    const type = headers.get('content-type')?.slice(0, 100) ?? 'no content-type';
    const message = `HTTP ${status}: expected JSON, got ${bytes.byteLength} bytes that are none (${type})`;
    throw new AttemptError({ kind: 'protocol', message, outcome: 'unknown', status });
  }
}

/** It was carried out; what came of it is not known. */
function tooLong(status: number, maxBodyBytes: number): AttemptError {
  const message = `HTTP ${status}: the body is longer than ${maxBodyBytes} bytes`;
  return new AttemptError({ kind: 'permanent', reason: 'message_too_large', message, outcome: 'unknown', status });
}
