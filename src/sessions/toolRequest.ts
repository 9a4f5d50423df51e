import { scopeKeys, scopeRule } from '../calls/callOptions.ts';
import { effects } from '../policy/effects.ts';
import type { Outcome } from '../policy/failures/failure.ts';
import {
  boolean,
  callback,
  choice,
  duration,
  type Given,
  signal,
  type GivenValues,
} from '../policy/options/optionKeys.ts';
import { readGiven } from '../policy/options/readOptions.ts';
import type { ChunkStream } from '../streams/callStream.ts';
import type { Resume, StreamEnd } from '../streams/chunkRelay.ts';
import {
  type CheckedReading,
  type HttpChunks,
  type HttpReading,
  type HttpStreamParse,
  readingKeys,
  readingRule,
} from '../streams/httpReading.ts';
import type { ToolResult } from './toolResult.ts';

/** A request as a function integration gets it from `turn.tool`; `Input` is what the turn gave to the tool. */
export interface ToolRequest<Input = unknown> {
  readonly tool: string;
  readonly input: Input;
}

/** Stands for the input of an integration that is no tool: nothing is assignable to it, and its name is read in what the compiler says. */
interface OperationTakesInsteadOfToolRequest<Request> {
  readonly 'a tool is given { tool, input }; this operation takes': Request;
}

/**
 * Input that `turn.tool` takes for an integration of these requests: the `input` of a {@link ToolRequest}, the arguments of an MCP tool, the request of a
 * command or of an HTTP API itself. An operation that reads no `input` takes any.
 */
export type ToolInput<Request> = ToolRequest extends Request
  ? unknown
  : Request extends ToolRequest<infer Input>
    ? Input
    : Request extends { readonly tool: string; readonly input?: infer Input }
      ? Input | undefined
      : Request extends { readonly name: string; readonly arguments?: infer Arguments }
        ? Arguments
        : Request extends { readonly args?: readonly string[] | undefined }
          ? Request
          : HttpKeys extends keyof Request
            ? Request
            : Request extends { readonly input: infer Input }
              ? Input
              : OperationTakesInsteadOfToolRequest<Request>;

/** Keys that a request of an HTTP API is known by. */
type HttpKeys = 'method' | 'path' | 'headers' | 'body';

/** Parts of an integration that say what it takes and what it answers. */
interface Callable<Request, Value> {
  readonly name: string;
  call(request: Request): Promise<Outcome<Value>>;
}

/** Arguments that follow the name of the tool. */
type ToolArguments<Target, Input, Options = ToolCallOptions> =
  Target extends Callable<infer Request, unknown>
    ? undefined extends ToolInput<Request>
      ? [input?: ToolInput<Request> | undefined, options?: Options]
      : [input: ToolInput<Request>, options?: Options]
    : [input?: Input | undefined, options?: Options];

type ToolValue<Target, Value> = Target extends Callable<never, infer Answer> ? Answer : Value;

/**
 * Calls a tool: of an integration, whose types carry through, or of the name of one, where the caller may say them: `<Input, Value>`. One
 * signature for both, so that a mistake is told of the argument that is wrong.
 */
export type CallTool = <Input = unknown, Value = unknown, Target extends string | Callable<never, unknown> = string>(
  integration: Target,
  tool: string,
  ...input: ToolArguments<Target, Input>
) => Promise<ToolResult<ToolValue<Target, Value>>>;

/** A stream of a tool. */
export interface ToolStream<C> extends ChunkStream<C> {
  /** The one result of the call: what the stream came to, or an error. Never rejects; it waits for the reader. */
  readonly result: Promise<ToolResult<StreamEnd>>;
}

/** Options of one stream of a tool. */
export interface ToolStreamOptions<Input, C> extends ToolCallOptions {
  /**
   * Gives the input of an attempt that goes on after `lastChunk`, the last one that was taken, of `chunks` in all.
   * @defaultValue none: a stream is tried again only before its first chunk was taken
   */
  readonly resume?: Resume<Input, C> | undefined;
}

type InputOf<Target, Input> = Target extends Callable<infer Request, unknown> ? ToolInput<Request> : Input;

/** Parts of an integration that say what its streams give. */
interface Streamed<C> {
  readonly name: string;
  stream(request: never): { readonly chunks: AsyncIterableIterator<C, undefined> };
}

/** True for an HTTP API, whose answers can be read in several ways. */
type IsHttp<Target> =
  Target extends Callable<infer Request, unknown> ? (HttpKeys extends keyof Request ? true : false) : false;

type ToolChunk<Target, C, S extends HttpStreamParse> =
  IsHttp<Target> extends true ? HttpChunks[S] : Target extends Streamed<infer Chunk> ? Chunk : C;

/** Forms that an answer may be read as: that of an HTTP API, also where its name alone is given. */
type ParseOf<Target> = IsHttp<Target> extends true ? HttpStreamParse : Target extends string ? HttpStreamParse : never;

/** Other options of reading it. */
type ReadingOf<Target> = [ParseOf<Target>] extends [never] ? unknown : Omit<HttpReading, 'parse'>;

/**
 * Calls a tool whose answer is a stream: of an integration, whose types carry through, or of the name of one, where the caller may say them:
 * `<Input, Chunk>`. That of an HTTP API takes `parse`, `events`, `firstContentMs` and `contentMs` as its own `stream` does.
 */
export type StreamTool = <
  Input = unknown,
  C = unknown,
  Target extends string | Callable<never, unknown> = string,
  S extends ParseOf<Target> = Target extends string ? ParseOf<Target> : ParseOf<Target> & 'events',
>(
  integration: Target,
  tool: string,
  ...input: ToolArguments<
    Target,
    Input,
    ToolStreamOptions<InputOf<Target, Input>, ToolChunk<Target, C, S>> &
      ReadingOf<Target> & { readonly parse?: S | undefined }
  >
) => ToolStream<ToolChunk<Target, C, S>>;

/** The options of a tool call of a turn. */
export const toolCallKeys = {
  /** Calls of one scope of an integration run one at a time, those of other sessions included; a second one is refused. @defaultValue none */
  scope: scopeKeys.scope,
  /** Ends the call that holds the scope instead of being refused; only with `scope`. @defaultValue false */
  replace: scopeKeys.replace,
  /** Effect that the call may have on the world; decides what may be retried after a lost answer. @defaultValue the tool's own, else unspecified */
  effect: choice(effects),
  /**
   * Declares the call long-running: its own limit, in ms above 0, in place of the session's watchdog limit. @defaultValue the watchdog's 5 min
   */
  longRunningMs: duration(),
  /**
   * Keeps a message that is delivered again from making the call again where it took effect, or may have: it is answered with what an equal call of the
   * earlier delivery was. Calls that change nothing, or nothing more, are made again. With a reconcile rule it is always so. @defaultValue false
   */
  once: boolean(),
  /** Asks anew: the call joins no equal one that a limit has ended and that goes on, and is not given its late answer. @defaultValue false */
  fresh: boolean(),
  /**
   * Cancels the call when aborted; with the reason of a limit, as that of `AbortSignal.timeout`, it is kept where it may be. @defaultValue the turn’s alone
   */
  signal,
};

/** Options of one tool call of a turn. */
export interface ToolCallOptions extends Given<typeof toolCallKeys> {}

const toolStreamKeys = { ...toolCallKeys, ...readingKeys, resume: callback<Resume<never, never>>() };

/** {@link ToolCallOptions}, checked; limits in ms. */
export type CheckedToolCall = GivenValues<typeof toolCallKeys>;

/** Options of a stream, those about the call apart from those about its chunks. */
interface CheckedToolStream {
  readonly call: CheckedToolCall;
  readonly resume: Resume<never, never> | undefined;
  /** Reading of the answer of an HTTP API; undefined where nothing is said of it. */
  readonly reading: CheckedReading | undefined;
}

/**
 * @param isRead - whether the answer can be read in several ways.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkToolStream(options: object, isRead: boolean): CheckedToolStream {
  const checked = readGiven('options', options, toolStreamKeys, (values, tell) => {
    scopeRule(values, tell);
    readingRule(values, tell);
  });
  const { resume, parse, events, firstContentMs, contentMs, ...call } = checked;
  const reading = { parse, events, firstContentMs, contentMs };
  const [given] = Object.entries(reading).find(([, value]) => value !== undefined) ?? [];
  if (given !== undefined && !isRead) {
    throw new RangeError(`Expected \`options.${given}\` only for a stream of \`gateway.http\``);
  }
  return { call, resume, reading: given === undefined ? undefined : reading };
}
