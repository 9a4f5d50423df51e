import type { ToolRules } from '../../src/policy/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { type McpParams, type McpRequest, elementSpans, fieldsOf, memberSpan } from '../../src/protocol/mcp/face.ts';
import { withMember, withNewMember } from '../wire/rewrite.ts';
import { type Line, textOf } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';

type Asked = Pick<McpRequest, 'method' | 'params'>;

/** The tools of the server as the rules of the operator show them to its client; behind it all is as the server has it. */
export class ToolView {
  readonly #scope: ProxyScope;
  readonly #rules: ToolRules;

  constructor(scope: ProxyScope) {
    this.#scope = scope;
    this.#rules = scope.settings.rules();
  }

  /** Returns a call by the name that the server has for its tool, or what refuses it. */
  taken(request: McpRequest, line: Uint8Array): readonly [McpRequest, Uint8Array] | FailureFacts {
    const { method, params } = request;
    const { name } = params;
    if (this.#rules.isEmpty || method !== 'tools/call' || typeof name !== 'string') return [request, line];
    const own = this.#rules.called(name);
    if (typeof own !== 'string') return own;
    if (own === name) return [request, line];
    const text = textOf(line);
    const renamed = withMember(text, 'name', own, memberSpan(text, 'params')?.start);
    return [{ ...request, params: { ...params, name: own } }, Buffer.from(renamed)];
  }

  /** Returns the answer to a request as its client reads it. */
  shown({ method, params }: Asked, line: Line): Line {
    if (this.#rules.isEmpty || method !== 'tools/list') return line;
    if (params['cursor'] === undefined) this.#rules.begin();
    const text = textOf(line);
    const result = memberSpan(text, 'result');
    const tools = result && memberSpan(text, 'tools', result.start);
    if (tools === undefined || text[tools.start] !== '[') return line;
    const array = text.slice(tools.start, tools.end);
    const given = elementSpans(array).map(({ start, end }) => array.slice(start, end));
    const shown = given.flatMap((tool) => this.#tool(tool));
    const isSame = shown.length === given.length && shown.every((tool, at) => tool === given[at]);
    return isSame ? line : `${text.slice(0, tools.start)}[${shown.join(',')}]${text.slice(tools.end)}`;
  }

  #tool(text: string): readonly string[] {
    const tool: McpParams = fieldsOf(JSON.parse(text));
    const { name: own } = tool;
    if (typeof own !== 'string') return [text];
    const { name: integration, voice, facts } = this.#scope;
    const as = this.#rules.enter(own, (line, taken, of) => {
      voice.say(line);
      facts.tell({ type: 'mcp.left_out', integration, what: 'tool', name: own, as: taken, reason: 'taken', of });
    });
    if (as === undefined) return [];
    const named = as.name === own ? text : withMember(text, 'name', as.name);
    if (as.description === undefined) return [named];
    const isDescribed = Object.hasOwn(tool, 'description');
    return [(isDescribed ? withMember : withNewMember)(named, 'description', as.description)];
  }
}
