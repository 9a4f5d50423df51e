import type { LargeResults } from '../../src/integrations/mcp/face.ts';
import * as mcp from '../../src/protocol/mcp/face.ts';
import type { SessionRecord } from '../wire/sessionRecord.ts';
import { resultAnswer } from '../wire/syntheticAnswer.ts';
import { type Line, type Outlet, textOf } from './outlet.ts';

interface ToldResultsParts {
  /** Undefined where all is told whole. */
  readonly results: LargeResults | undefined;
  readonly owner: string;
  readonly record: SessionRecord;
  readonly outlet: Outlet;
}

/** Results on their way to the client: large ones are cut, and read on by a tool that is listed among those of the server. */
export class ToldResults {
  readonly #parts: ToldResultsParts;
  /** The server has a tool of that name itself, and so cuts its results. */
  #isOfServer = false;
  /** It is noted that they end with this process. */
  #isNoted = false;

  constructor(parts: ToldResultsParts) {
    this.#parts = parts;
  }

  /** Returns an answer as the client gets it. */
  line({ id, method, params }: Omit<mcp.McpRequest, 'kind' | 'key'>, tool: string | undefined, line: Line): Line {
    const { record, owner, results } = this.#parts;
    const isList = method === 'tools/list';
    if (results === undefined || !(isList || /^(tools\/call|tasks\/(result|get))$/.test(method))) return line;
    const chars = tool === undefined ? undefined : record.tools.sizeCharsOf(tool);
    if (!isList && Buffer.byteLength(line) <= Math.min(results.limit, chars ?? Infinity)) return line;
    const message = mcp.readMessage(textOf(line));
    if (message.kind !== 'answer' || message.result === undefined) return line;
    const { result } = message;
    if (isList) return resultAnswer(id, this.#listed(params, result));
    if (this.#isOfServer) return line;
    const own = method === 'tasks/get' ? mcp.fieldsOf(result['result']) : result;
    const told = results.told(own, owner, tool, chars);
    if (told !== own && !this.#isNoted) void results.endsWithProcess(owner);
    this.#isNoted ||= told !== own;
    try {
      return told === own ? line : resultAnswer(id, method === 'tasks/get' ? { ...result, result: told } : told);
    } catch {
      // Beside what was cut stands what nests too deep to be written anew.
      return line;
    }
  }

  /** Answers a call of the tool that reads on. @returns whether it is one. */
  answers({ id, method, params }: mcp.McpRequest): boolean {
    const isOurs = method === 'tools/call' && params['name'] === mcp.readResultTool.name && !this.#isOfServer;
    const { results, owner, outlet } = this.#parts;
    if (!isOurs || results === undefined) return false;
    outlet.write(resultAnswer(id, results.read(params, owner)));
    return true;
  }

  /** Lists the tool as well. No tool promises structured content any more, which may be left out. */
  #listed({ cursor }: mcp.McpParams, result: mcp.McpParams): mcp.McpParams {
    const given: readonly mcp.McpParams[] = Array.isArray(result['tools']) ? result['tools'].map(mcp.fieldsOf) : [];
    if (cursor === undefined) this.#isOfServer = false;
    this.#isOfServer ||= given.some(({ name }) => name === mcp.readResultTool.name);
    if (this.#isOfServer) return result;
    const tools: mcp.McpParams[] = given.map((tool) => ({ ...tool, outputSchema: undefined }));
    if (cursor === undefined) tools.push(mcp.readResultTool);
    return { ...result, tools };
  }
}
