import type { ToolRules } from '../../src/policy/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { type McpParams, type McpRequest, elementSpans, fieldsOf, memberSpan } from '../../src/protocol/mcp/face.ts';
import { ToolDefinitions } from '../../src/runtime/face.ts';
import { withMember, withNewMember } from '../wire/rewrite.ts';
import { listPages } from './handshake.ts';
import { type Line, textOf } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { Wire } from './wire.ts';

type Asked = Pick<McpRequest, 'method' | 'params'>;

/** The tools of the server as the rules of the operator show them to its client; behind it all is as the server has it. */
export class ToolView {
  readonly #scope: ProxyScope;
  readonly #rules: ToolRules;

  readonly #definitions: ToolDefinitions;
  /** The last server whose tools were all compared, or are, before any of them is called. */
  #checked: { readonly wire: Wire; readonly listed: Promise<void> } | undefined = undefined;

  /** @param changed - told when the list is another one than the client has seen. */
  constructor(scope: ProxyScope, changed: () => void) {
    const { settings, runtime, name: integration, voice } = scope;
    this.#scope = scope;
    this.#rules = settings.rules();
    const { declaredAs: server, pin } = settings;
    const say = (line: string): void => voice.say(line);
    this.#definitions = new ToolDefinitions({ runtime, server, integration, pin, say, accepted: changed });
  }

  /** The server answered a request of the client. @returns what the client is to wait for, where it is. */
  seen({ method }: Asked, result: McpParams | undefined): Promise<void> | undefined {
    if (method !== 'tools/list' || result === undefined) return undefined;
    const compared = this.#definitions.seen(toolsIn(result), result['nextCursor'] === undefined);
    return this.#scope.settings.pin ? compared : undefined;
  }

  /** The server says that its tools are others now. */
  changed(): void {
    this.#checked = undefined;
  }

  /** Says why a tool may not be called, once all tools of this server are compared. Rejects with an AttemptError where they cannot be. */
  async held(tool: string, wire: Wire): Promise<FailureFacts | undefined> {
    if (this.#checked?.wire !== wire) this.#checked = { wire, listed: this.#list(wire) };
    try {
      await this.#checked.listed;
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
    return this.#definitions.refusal(tool);
  }

  end(): void {
    this.#definitions.end();
  }

  async #list(wire: Wire): Promise<void> {
    const pages = (await listPages(wire, this.#scope.record, 'tools/list')) ?? [];
    await this.#definitions.seen(pages.flatMap(toolsIn), true);
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
    const { pin } = this.#scope.settings;
    if ((this.#rules.isEmpty && !pin) || method !== 'tools/list') return line;
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
    const listed: McpParams = fieldsOf(JSON.parse(text));
    const tool = this.#definitions.shown(listed);
    const { name: own } = listed;
    if (tool === undefined || typeof own !== 'string') return tool === undefined ? [] : [text];
    const { name: integration, voice, facts } = this.#scope;
    const as = this.#rules.enter(own, (line, taken, of) => {
      voice.say(line);
      facts.tell({ type: 'mcp.left_out', integration, what: 'tool', name: own, as: taken, reason: 'taken', of });
    });
    if (as === undefined) return [];
    const before = tool === listed ? text : JSON.stringify(tool);
    const named = as.name === own ? before : withMember(before, 'name', as.name);
    if (as.description === undefined) return [named];
    const isDescribed = Object.hasOwn(tool, 'description');
    return [(isDescribed ? withMember : withNewMember)(named, 'description', as.description)];
  }
}

function toolsIn({ tools }: McpParams): readonly McpParams[] {
  const listed: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return listed.map(fieldsOf);
}
