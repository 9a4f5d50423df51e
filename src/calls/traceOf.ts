import { read, readString } from '../policy/errorChain.ts';
import type { Call } from './call.ts';
import type { CallPathOptions } from './callPathOptions.ts';
import { toolName } from './toolName.ts';
import type { CallTrace } from './tracing.ts';

/** Has the tracer of a path follow a call, which it is told of by names alone; undefined where there is no tracer. */
export function traceOf<I, O>(options: CallPathOptions<I, O>, call: Call<I, O>): CallTrace | undefined {
  const { name, about, tracing } = options;
  const { input, number, settings } = call;
  const tracer = tracing?.tracer;
  // The call that it is part of is told of.
  if (tracer === undefined || settings.isPart === true) return undefined;
  const { method, ...names } = about?.namesOf?.(input) ?? {};
  return tracer.callBegins({
    ...names,
    integration: name,
    number,
    type: about?.type,
    tool: toolName(options, input),
    provider: about?.provider,
    model: about?.modelOf?.(input),
    label: settings.label,
    session: settings.session,
    method: method ?? (about?.type === 'http' ? (readString(input, 'method') ?? methodOf(input)) : undefined),
    server: about?.server,
  });
}

/** A request that names no method is a GET; an input without a path is no request. */
function methodOf(input: unknown): string | undefined {
  return read(input, 'path') === undefined ? undefined : 'GET';
}
