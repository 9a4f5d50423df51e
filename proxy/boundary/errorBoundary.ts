import { stackOf } from '../../src/calls/face.ts';
import type { Fact } from '../../src/policy/facts/face.ts';
import { checkFunction, show } from '../../src/policy/options/face.ts';
import { type BoundarySettings, checkBoundary, type ErrorBoundaryOptions } from './boundaryOptions.ts';
import { contextIn, contextWith, signalOf } from './handlerContext.ts';
import { type EndedBy, runAs, RunningCall } from './runningCall.ts';
import { KnownSecrets, createTextRedactor } from '../../src/redaction/face.ts';

/** The code with which a handler has the client send its user to a page; no failure of the tool. */
const urlElicitationRequired = -32_042;

/**
 * Wraps the handler of an MCP tool: one that throws, rejects or hangs answers with a result that says so (`isError`, the tool's name
 * and the message), and never otherwise. Its signal is aborted when it is given up; what it comes to later is dropped and told.
 *
 * Takes handlers of `registerTool` of either official SDK, with and without input, and of a `tools/call` request.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * server.registerTool('search', { inputSchema }, withErrorBoundary(async ({ query }, { signal }) => find(query, signal)));
 */
export function withErrorBoundary<Args extends readonly unknown[], Result>(
  handler: (...args: Args) => Result | PromiseLike<Result>,
  options: ErrorBoundaryOptions = {},
): (...args: Args) => Promise<Result | ToolErrorResult> {
  checkFunction('handler', handler);
  return bounded(handler, checkBoundary(options));
}

/** As {@link withErrorBoundary}, with options that have been checked. */
export function bounded<Args extends readonly unknown[], Result>(
  handler: (...args: Args) => Result | PromiseLike<Result>,
  settings: BoundarySettings,
): (...args: Args) => Promise<Result | ToolErrorResult> {
  return (...args) =>
    new Promise((resolve, reject) => {
      const context = contextIn(args);
      const { tool, input } = aboutCall(args, context !== undefined, settings.tool, handler.name);
      const tell = teller(settings, tool, input);

      const call = new RunningCall(settings, signalOf(context), (by, error) => {
        if (isFailure(by)) tell.failed(tellable(error), by === 'limit' ? undefined : stackOf(error));
        resolve(toolErrorResult(tool, tellable(error)));
      });
      if (call.isOver) return;

      const answered = (result: Result): void => {
        const before = call.finished();
        if (before !== undefined) return tell.late(before, true);
        if (typeof result !== 'object' || result === null)
          return failed(new TypeError('The handler returned no result'));
        checkSendable(result);
        const error = errorOf(result);
        if (error !== undefined) tell.failed(error);
        resolve(result);
      };

      const failed = (error: unknown): void => {
        const before = call.finished();
        if (before !== undefined) return tell.late(before, false, error);
        if (isUrlElicitation(error)) return reject(error);
        tell.failed(tellable(error), stackOf(error));
        resolve(toolErrorResult(tool, tellable(error)));
      };

      const last = context === undefined ? [] : [contextWith(context, call)];
      const given = [...args.slice(0, args.length - last.length), ...last] as [...Args];
      // The handler's result may itself throw when it is looked at.
      void new Promise<Result>((settle) => settle(runAs(call, () => handler(...given)))).then(answered).catch(failed);
    });
}

interface AboutCall {
  readonly tool: string;
  readonly input: unknown;
}

/**
 * Tells whose call it is, and what it was given: a handler of requests is told both, one of a tool only the second. With a known tool, nothing is read into
 * its input.
 */
function aboutCall(args: readonly unknown[], hasContext: boolean, known: string | undefined, name: string): AboutCall {
  const [first] = args.length > (hasContext ? 1 : 0) ? args : [];
  if (known !== undefined) return { tool: known, input: first };
  const { method, params } = (first ?? {}) as { method?: unknown; params?: { name?: unknown; arguments?: unknown } };
  if (method === 'tools/call' && typeof params?.name === 'string')
    return { tool: params.name, input: params.arguments };
  return { tool: name === '' ? 'tool' : name, input: first };
}

let lastCall = 0;

function teller({ server, tell: listener }: BoundarySettings, tool: string, input: unknown) {
  const number = ++lastCall;
  const tell = (fact: Fact): void => {
    // A listener must not decide over the answer of a call, and nobody is left to tell.
    const lost = (): void => undefined;
    try {
      void Promise.resolve<unknown>(listener(fact)).catch(lost);
    } catch {
      lost();
    }
  };
  return {
    failed: (error: string, stack?: string) =>
      tell({ type: 'mcp.tool_failed', integration: server, tool, input, error, stack }),
    late({ by, lateByMs }: { readonly by: EndedBy; readonly lateByMs: number }, ok: boolean, error?: unknown): void {
      if (!isFailure(by)) return;
      const call = `${server}-${number}`;
      const said = ok ? undefined : tellable(error);
      tell({ type: 'call.late', integration: server, call, label: tool, attempt: 1, ok, lateByMs, error: said });
    },
  };
}

/** Tells whether it is one: with the client gone there is nobody to fail, and a handler that ends does what it should. */
function isFailure(by: EndedBy): boolean {
  return by === 'limit' || by === 'uncaught';
}

function isUrlElicitation(error: unknown): boolean {
  try {
    return error instanceof Error && 'code' in error && error.code === urlElicitationRequired;
  } catch {
    return false;
  }
}

/** The result of a tool call that failed, as the protocol has it. */
export type ToolErrorResult = { content: { type: 'text'; text: string }[]; isError: true };

const longestText = 2000;

function toolErrorResult(tool: string, message: string): ToolErrorResult {
  return { content: [{ type: 'text', text: `Error in ${tool}: ${message}` }], isError: true };
}

/** @throws TypeError when a result is no JSON: the SDKs could not send it, and its call would never be answered. */
function checkSendable(result: object): void {
  try {
    JSON.stringify(result);
  } catch (error) {
    throw new TypeError(`Its result cannot be sent: ${tellable(error)}`, { cause: error });
  }
}

/** Returns what may be told to the other side of anything thrown: bounded, and without what looks like a secret or stands in one of ours. */
export function tellable(error: unknown): string {
  const words = wordsOf(error);
  let clean = createTextRedactor(new KnownSecrets(process.env)).text(words.slice(0, 2 * longestText));
  // So much was redacted that the end of what was read comes into view, where half a secret may stand.
  if (words.length > 2 * longestText && clean.length <= longestText)
    clean = clean.slice(0, clean.search(/\S{1,4000}$/));
  clean = clean.trim();
  if (clean === '') return 'It failed and did not say why';
  return clean.length > longestText ? `${clean.slice(0, longestText - 3)}...` : clean;
}

/** Reads a thrown value, which can throw itself when it is looked at. */
function wordsOf(error: unknown): string {
  try {
    if (typeof error === 'string') return error;
    const { message } = (error ?? {}) as { message?: unknown };
    return typeof message === 'string' ? message : `It threw ${show(error)}`;
  } catch {
    return '';
  }
}

/** The words of a result that says it is an error; undefined for any other. */
function errorOf(result: object): string | undefined {
  const { isError, content } = result as { isError?: unknown; content?: unknown };
  if (isError !== true) return undefined;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.flatMap((part) => {
    const { text } = (part ?? {}) as { text?: unknown };
    return typeof text === 'string' ? [text] : [];
  });
  return texts.join('\n').slice(0, longestText);
}
