import { messageOf } from '../../policy/failures/thrown.ts';
import { show } from '../../policy/text/showValue.ts';
import { cutResult, pageIn, readResultTool } from '../../protocol/mcp/largeResult.ts';
import { fieldsOf, type McpParams } from '../../protocol/mcp/message.ts';
import { isModern } from '../../protocol/mcp/methods.ts';
import type { Runtime } from '../../runtime/runtime.ts';

/** Large results of the tools of a server: head and tail of each are told, the whole is kept, and is read in pages. */
export class LargeResults {
  readonly #runtime: Pick<Runtime, 'results' | 'bus'>;
  readonly #name: string;
  readonly limit: number;

  /** @param name - of the integration. @param limit - above which a result is cut, in bytes; a page is no larger. */
  constructor(runtime: Pick<Runtime, 'results' | 'bus'>, name: string, limit: number) {
    this.#runtime = runtime;
    this.#name = name;
    this.limit = limit;
    runtime.results.sweep();
  }

  /** Returns a result as it is told; one that cannot be kept is told whole. @param chars - that its tool wants whole. */
  told<T extends object>(result: T, owner: string, tool: string | undefined, chars: number | undefined): T {
    const { results, bus } = this.#runtime;
    try {
      const cut = cutResult(fieldsOf(result), this.limit, chars, (whole) => results.keep(owner, whole));
      return (cut as T | undefined) ?? result;
    } catch (error) {
      bus.tell({ type: 'mcp.result_not_kept', integration: this.#name, tool, message: messageOf(error) });
      return result;
    }
  }

  /** Has what is kept of an owner end with this process. */
  endsWithProcess = (owner: string): Promise<void> => this.#runtime.results.endsWithProcess(owner);

  /** Answers a call of the tool that reads on. @param params - of the call. */
  read(params: McpParams, owner: string) {
    const { handle, from = 0, bytes = this.limit } = fieldsOf(params['arguments']);
    const ofEra = isModern(params) ? { resultType: 'complete' } : {};
    const refused = (why: string) => ({ ...ofEra, content: texts(`${readResultTool.name}: ${why}.`), isError: true });
    if (!isCount(from)) return refused(`\`from\` has to be a whole number from 0, got ${show(from)}`);
    if (!isCount(bytes) || bytes === 0)
      return refused(`\`bytes\` has to be a whole number above 0, got ${show(bytes)}`);
    // More than one character, which has up to 4 bytes.
    const most = Math.max(8, Math.min(bytes, this.limit));
    const { part, size } = this.#runtime.results.read(owner, String(handle), from, most) ?? { size: 0 };
    if (part === undefined) return refused(unknown);
    if (from >= size) return refused(`\`from\` has to be below ${size}, which is its size in bytes, got ${from}`);
    const { start, end } = pageIn(part, from + part.length >= size);
    const next = from + end < size ? from + end : undefined;
    const page = { from: from + start, to: from + end, bytes: size, next };
    const rest = next === undefined ? 'That is its end' : `Read on from ${next}`;
    const note = `(Bytes ${page.from} to ${page.to} of ${size}. ${rest}.)`;
    return { ...ofEra, content: texts(part.toString('utf8', start, end), note), _meta: { 'unwedge/page': page } };
  }
}

const unknown =
  'no result of this handle is kept here. One is good for the client or session that got it, while that goes on, and for a day at most: make the call that gave it again';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const texts = (...all: string[]) => all.map((text) => ({ type: 'text' as const, text }));
