import { globFits, nearest } from '../../src/policy/text/face.ts';
import { type McpParams, type McpRequest, fieldsOf } from '../../src/protocol/mcp/face.ts';

/** Configuration of tools of a server, in the order in which it is told. */
export interface SaidOfTools {
  readonly name: string;
  readonly tools: { entries(): Iterable<[string, { readonly reconcile?: object | undefined }]> };
  /** The rule of all its tools. */
  readonly reconcile: object | undefined;
  /** Tools of `--tool-timeout`. */
  readonly limited: readonly string[];
}

/** A server with more tools than this is not compared. */
const mostTools = 10_000;

/**
 * The tools that limits and rules are written for, held against those that the server lists: what is written for another name holds for nothing, and
 * nobody else would say so. One for all clients of a server.
 */
export class ToolNames {
  readonly #server: string;
  /** By tool, where it stands. */
  readonly #written: ReadonlyMap<string, string>;
  readonly #told = new Set<string>();
  #listed: string[] = [];
  #next: unknown;

  constructor(said: SaidOfTools) {
    this.#server = said.name;
    this.#written = writtenIn(said);
  }

  /** Returns what a page of its tools shows to be written for none of them, a line each and each once: with the last page alone, as a tool may be on any. */
  note({ method, params }: Pick<McpRequest, 'method' | 'params'>, result: McpParams): readonly string[] {
    if (method !== 'tools/list' || this.#written.size === 0) return [];
    const { cursor } = params;
    if (cursor === undefined) this.#listed = [];
    // Only one of two clients that turn the pages at a time is compared.
    else if (cursor !== this.#next) return [];
    const { tools, nextCursor } = result;
    const page: readonly unknown[] = Array.isArray(tools) ? tools : [];
    for (const { name } of page.map(fieldsOf)) if (typeof name === 'string') this.#listed.push(name);
    this.#next = nextCursor;
    return nextCursor === undefined && this.#listed.length <= mostTools ? this.#unknown() : [];
  }

  #unknown(): readonly string[] {
    const listed = new Set(this.#listed);
    return [...this.#written].flatMap(([tool, place]) => {
      const isListed = listed.has(tool) || (tool.includes('*') && this.#listed.some((name) => globFits(tool, name)));
      if (isListed || this.#told.has(tool)) return [];
      this.#told.add(tool);
      const near = nearest(tool, this.#listed);
      const guess = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
      return [`${this.#server} has no tool ${JSON.stringify(tool)}, which ${place} names${guess}`];
    });
  }
}

function writtenIn({ name, tools, reconcile, limited }: SaidOfTools): ReadonlyMap<string, string> {
  const own = `policies.integrations.${name}`;
  const rules = [
    [`${own}.reconcile`, reconcile] as const,
    ...[...tools.entries()].map(([tool, settings]) => [`${own}.tools.${tool}.reconcile`, settings.reconcile] as const),
  ];
  return new Map([
    ...rules.flatMap(([place, rule]) =>
      rule !== undefined && 'tool' in rule ? [[String(rule.tool), place] as const] : [],
    ),
    ...limited.map((tool) => [tool, '--tool-timeout'] as const),
    ...[...tools.entries()].map(([tool]) => [tool, `${own}.tools`] as const),
  ]);
}
