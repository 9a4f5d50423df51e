import type { Timer, ToolRules } from '../../src/policy/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { type McpParams, type McpRequest, elementSpans, fieldsOf, memberSpan } from '../../src/protocol/mcp/face.ts';
import { ToolDefinitions } from '../../src/runtime/face.ts';
import { withMember, withNewMember } from '../wire/rewrite.ts';
import { listPages } from './handshake.ts';
import type { ClientCall } from './clientCall.ts';
import { type Line, textOf } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { Wire } from './wire.ts';

/** A call as its server is to get it, and the name that the client had for its tool, where the list of the server decides which that is. */
export type Taken = readonly [request: McpRequest, line: Uint8Array, calledAs?: string | undefined];

/** Several tools change at once, and a server may say so at each list it is asked for: times until it is asked, and between two such lists, in ms. */
const soonMs = 100;
const apartMs = 5000;

type Asked = Pick<McpRequest, 'method' | 'params'>;

/** The tools of the server as the rules of the operator show them to its client; behind it all is as the server has it. */
export class ToolView {
  readonly #scope: ProxyScope;
  readonly #rules: ToolRules;

  readonly #definitions: ToolDefinitions;
  /** The last server whose tools were all compared, or are, before any of them is called. */
  #checked: { readonly wire: Wire; readonly listed: Promise<void> } | undefined = undefined;
  #comparing: Timer | undefined = undefined;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #isEnded = false;

  /** @param changed - told when the list is another one than the client has seen. */
  constructor(scope: ProxyScope, changed: () => void) {
    const { settings, runtime, name: integration, voice } = scope;
    this.#scope = scope;
    this.#rules = settings.rules();
    const { declaredAs: server, pin } = settings;
    const say = (line: string): void => voice.say(line);
    this.#definitions = new ToolDefinitions({ runtime, server, integration, pin, say, accepted: changed });
  }

  /** True where its client sees all tools, by the names that its server has for them. */
  get isPlain(): boolean {
    return this.#rules.isEmpty;
  }

  /** The server answered a request of the client. @returns what the client is to wait for, where it is. */
  seen({ method }: Asked, result: McpParams | undefined): Promise<void> | undefined {
    if (method !== 'tools/list' || result === undefined) return undefined;
    const compared = this.#definitions.seen(toolsIn(result), result['nextCursor'] === undefined);
    return this.#scope.settings.pin ? compared : undefined;
  }

  /** The server says that its tools are others now: those that are pinned are compared soon, whether or not anybody asks for them. */
  changed(): void {
    this.#checked = undefined;
    const { clock, settings } = this.#scope;
    if (!settings.pin || this.#isEnded) return;
    const inMs = Math.max(soonMs, this.#comparedAt + apartMs - clock.now());
    this.#comparing ??= clock.setTimeout(() => this.#compareNow(), inMs);
  }

  #compareNow(): void {
    const { wire, clock } = this.#scope;
    this.#comparing = undefined;
    this.#comparedAt = clock.now();
    // A server that is new is asked before the first call.
    if (wire?.ready === true) this.#known(wire).catch(() => undefined);
  }

  /** Says whether the tools of its server have to be known before a call is made. */
  needsList({ tool, calledAs }: ClientCall): boolean {
    return tool !== undefined && (this.#scope.settings.pin || calledAs !== undefined);
  }

  /**
   * Says why a tool may not be called, or which other call is meant, once all tools of this server are known. Rejects with an AttemptError where they cannot be.
   */
  async judged({ tool, calledAs, request, line }: ClientCall, wire: Wire): Promise<FailureFacts | Taken | undefined> {
    await this.#known(wire);
    const own = calledAs === undefined ? tool : this.#rules.called(calledAs);
    if (typeof own === 'object') return own;
    if (own === tool || own === undefined || line === undefined) return this.#definitions.refusal(String(tool));
    return named({ ...request, kind: 'request' }, line, own);
  }

  end(): void {
    this.#isEnded = true;
    this.#scope.clock.clearTimeout(this.#comparing);
    this.#definitions.end();
  }

  async #known(wire: Wire): Promise<void> {
    if (this.#checked?.wire !== wire) this.#checked = { wire, listed: this.#list(wire) };
    try {
      await this.#checked.listed;
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
  }

  async #list(wire: Wire): Promise<void> {
    const pages = (await listPages(wire, this.#scope.record, 'tools/list')) ?? [];
    const tools = pages.flatMap(toolsIn);
    await this.#definitions.seen(tools, true);
    this.#rules.begin();
    for (const tool of tools) if (this.#definitions.shown(tool) !== undefined) this.#enter(String(tool['name']));
  }

  /** Returns a call by the name that the server has for its tool, or what refuses it; as it is called, where the server's list decides which tool that is. */
  taken(request: McpRequest, line: Uint8Array): Taken | FailureFacts {
    const { method, params } = request;
    const { name } = params;
    if (method !== 'tools/call' || typeof name !== 'string') return [request, line];
    const own = this.#rules.called(name);
    const calledAs = this.#rules.needsList(name) ? name : undefined;
    if (typeof own !== 'string') return calledAs === undefined ? own : [request, line, calledAs];
    return own === name ? [request, line, calledAs] : named(request, line, own, calledAs);
  }

  /** Returns the answer to a request as its client reads it. */
  shown({ method, params }: Asked, line: Line): Line {
    const { pin } = this.#scope.settings;
    if ((this.#rules.isEmpty && !pin) || method !== 'tools/list') return line;
    const text = textOf(line);
    const result = memberSpan(text, 'result');
    if (params['cursor'] === undefined) this.#rules.begin();
    // What other pages have is to be asked for anew.
    if (memberSpan(text, 'nextCursor', result?.start) !== undefined) this.#checked = undefined;
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
    const as = this.#enter(own);
    if (as === undefined) return [];
    const before = tool === listed ? text : JSON.stringify(tool);
    const named = as.name === own ? before : withMember(before, 'name', as.name);
    if (as.description === undefined) return [named];
    const isDescribed = Object.hasOwn(tool, 'description');
    return [(isDescribed ? withMember : withNewMember)(named, 'description', as.description)];
  }

  #enter(own: string): ReturnType<ToolRules['enter']> {
    const { name: integration, voice, facts } = this.#scope;
    return this.#rules.enter(own, (line, taken, of) => {
      voice.say(line);
      facts.tell({ type: 'mcp.left_out', integration, what: 'tool', name: own, as: taken, reason: 'taken', of });
    });
  }
}

function named(request: McpRequest, line: Uint8Array, name: string, calledAs?: string): Taken {
  const text = textOf(line);
  const renamed = withMember(text, 'name', name, memberSpan(text, 'params')?.start);
  return [{ ...request, params: { ...request.params, name } }, Buffer.from(renamed), calledAs];
}

function toolsIn({ tools }: McpParams): readonly McpParams[] {
  const listed: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return listed.map(fieldsOf);
}
