import { fieldsOf, type McpParams, type McpRequest } from '../../../protocol/mcp/message.ts';
import { isModern, namedBy, versionField } from '../../../protocol/mcp/methods.ts';

/** An argument of a tool that goes as a header as well. */
interface HeaderArgument {
  readonly path: readonly string[];
  readonly header: string;
}

/** Tools whose arguments are remembered; a server may list any number. */
const mostTools = 10_000;

/** The headers that requests of the stateless era repeat of their body, for those who route them. */
export class ModernHeaders {
  readonly #tools = new Map<string, readonly HeaderArgument[]>();

  /** The headers of a request; none for one of the era with a handshake. */
  of({ method, params }: Pick<McpRequest, 'method' | 'params'>): Readonly<Record<string, string>> {
    if (!isModern(params)) return {};
    const headers: Record<string, string> = {
      'mcp-protocol-version': String(fieldsOf(params['_meta'])[versionField]),
      'mcp-method': method,
    };
    const name = params[namedBy.get(method) ?? ''];
    if (typeof name === 'string') headers['mcp-name'] = encoded(name);
    if (method !== 'tools/call' || typeof name !== 'string') return headers;
    for (const { path, header } of this.#tools.get(name) ?? []) {
      const value = textAt(fieldsOf(params['arguments']), path);
      if (value !== undefined) headers[`mcp-param-${header}`] = encoded(value);
    }
    return headers;
  }

  /** The server has listed tools. */
  learn({ tools }: McpParams): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools.map(fieldsOf)) {
      const { name, inputSchema } = tool;
      if (typeof name !== 'string') continue;
      const found = headerArguments(fieldsOf(inputSchema), []);
      if (found.length === 0) this.#tools.delete(name);
      else if (this.#tools.size < mostTools || this.#tools.has(name)) this.#tools.set(name, found);
    }
  }
}

const deepest = 16;

/** The properties of a schema that are marked so, through chains of `properties` alone. */
function headerArguments(schema: McpParams, path: readonly string[]): readonly HeaderArgument[] {
  if (path.length > deepest) return [];
  return Object.entries(fieldsOf(schema['properties'])).flatMap(([key, value]) => {
    const property = fieldsOf(value);
    const header = property['x-mcp-header'];
    const own = typeof header === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header) ? [header] : [];
    const here = [...path, key];
    return [...own.map((each) => ({ path: here, header: each })), ...headerArguments(property, here)];
  });
}

function textAt(root: McpParams, path: readonly string[]): string | undefined {
  const value = path.reduce<unknown>((node, key) => fieldsOf(node)[key], root);
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/** As a header can hold it: what is not plain text goes as base64 between marks. */
function encoded(value: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(value) && value === value.trim();
  if (isPlain && !(value.startsWith('=?base64?') && value.endsWith('?='))) return value;
  return `=?base64?${Buffer.from(value).toString('base64')}?=`;
}
