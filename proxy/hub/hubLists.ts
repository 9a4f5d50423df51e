import { type Clock, inTime } from '../../src/policy/face.ts';
import { hasParts } from '../../src/policy/text/face.ts';
import { type McpParams, elementSpans, fieldsOf, memberSpan } from '../../src/protocol/mcp/face.ts';
import { type Freshness, freshnessOf, mergedFreshness } from './hubGreeting.ts';
import type { HubMember } from './hubMember.ts';
import { withMember } from '../wire/rewrite.ts';
import { HubNames, type LeftOut } from './hubNames.ts';

/** The lists that servers have, and by what the client asks for one of their items. */
const kinds = {
  'tools/list': { items: 'tools', capability: 'tools', key: 'name' },
  'prompts/list': { items: 'prompts', capability: 'prompts', key: 'name' },
  'resources/list': { items: 'resources', capability: 'resources', key: 'uri' },
  'resources/templates/list': { items: 'resourceTemplates', capability: 'resources', key: 'uriTemplate' },
} as const;

export type ListMethod = keyof typeof kinds;

export function isList(method: string): method is ListMethod {
  return Object.hasOwn(kinds, method);
}

/** Time that the servers may take for their lists; what has not come by then is told as a change, in ms. */
const listMs = 3000;
/** Pages of one list of one server, and items of all of them. */
const mostPages = 100;
const mostItems = 10_000;
/** A text that is a URI, as the view of an application in the `_meta` of its tool. */
const quotedUri = /"([a-z][\w+.-]*:\/\/[^"\\]+)"/gi;

interface Item {
  /** As its server wrote it. */
  readonly text: string;
  readonly key: string;
}

interface HubListsHost {
  readonly clock: Clock;
  readonly members: readonly HubMember[];
  /** It will not be listed. Told once of each. */
  leftOut(left: LeftOut): void;
  /** A list is not any more what the client was told. */
  changed(list: ListMethod): void;
}

/** The lists of all servers as one: what a server said last stands until it says something else, and no server is waited for long. */
export class HubLists {
  readonly tools: HubNames;
  readonly prompts: HubNames;
  readonly #host: HubListsHost;
  readonly #known = new Map<ListMethod, Map<HubMember, readonly Item[]>>();
  /** Time that what each said last is good for. */
  readonly #freshness = new Map<ListMethod, Map<HubMember, readonly Freshness[]>>();
  /** Servers that were late last time: they are not waited for again before they have answered. */
  readonly #late = new Set<HubMember>();
  readonly #owners = new Map<string, HubMember>();
  /** Of what is not listed: of URIs that a tool, or the result of one, has named; of more than `mostItems` the oldest are forgotten. */
  readonly #linked = new Map<string, HubMember>();

  constructor(host: HubListsHost) {
    this.#host = host;
    this.tools = new HubNames('tool', (left) => host.leftOut(left));
    this.prompts = new HubNames('prompt', (left) => host.leftOut(left));
  }

  /**
   * Tells how long a list of all servers is good for, and for whom. It is that of none while one of them has not said what it has: what comes of it is told
   * as a change, which not every client hears.
   */
  freshness(method: ListMethod): Freshness {
    const { capability } = kinds[method];
    const known = this.#freshness.get(method);
    const having = this.#host.members.filter((member) => member.mayHave(capability));
    return mergedFreshness(having.flatMap((member) => known?.get(member) ?? [freshnessOf({})]));
  }

  /** Makes one list of all servers, as the members of a JSON array. @param params - what the client's request had that concerns every server. */
  async list(method: ListMethod, params: McpParams): Promise<string> {
    const { members, clock } = this.#host;
    const asked = members.filter((member) => member.info !== undefined && member.mayHave(kinds[method].capability));
    const answered = asked.map((member) => this.#refresh(member, method, params));
    const inHand = answered.filter((_, at) => !this.#late.has(asked[at] as HubMember));
    const open = new Set(asked);
    answered.forEach((each, at) => void each.then(() => open.delete(asked[at] as HubMember)));
    await inTime(Promise.all(inHand), { clock, limitMs: listMs });
    for (const member of open) this.#late.add(member);
    return this.#merged(method);
  }

  /** Finds whose resource a URI is: one that was listed, or that a template of theirs can make. */
  async ownerOf(uri: string): Promise<HubMember | undefined> {
    const known = this.#ownerOf(uri);
    if (known !== undefined) return known;
    await Promise.all([this.list('resources/list', {}), this.list('resources/templates/list', {})]);
    const found = this.#ownerOf(uri);
    if (found !== undefined) return found;
    const having = this.#host.members.filter((member) => member.info !== undefined && member.mayHave('resources'));
    return having.length === 1 ? having[0] : undefined;
  }

  /** Notes whose the resources are that the content of a result names. */
  noteLinks(member: HubMember, content: unknown): void {
    for (const block of Array.isArray(content) ? content.map(fieldsOf) : [])
      this.#link(member, block['uri'] ?? fieldsOf(block['resource'])['uri']);
  }

  #link(member: HubMember, uri: unknown): void {
    if (typeof uri !== 'string' || this.#linked.has(uri)) return;
    this.#linked.set(uri, member);
    if (this.#linked.size > mostItems) this.#linked.delete([...this.#linked.keys()][0] ?? '');
  }

  #ownerOf(uri: string): HubMember | undefined {
    const listed = this.#owners.get(uri) ?? this.#linked.get(uri);
    if (listed !== undefined) return listed;
    for (const [member, items] of this.#known.get('resources/templates/list') ?? []) {
      if (items.some(({ key }) => key === uri || templateMatches(key, uri))) return member;
    }
    return undefined;
  }

  async #refresh(member: HubMember, method: ListMethod, params: McpParams): Promise<void> {
    const items: Item[] = [];
    const freshness: Freshness[] = [];
    let cursor: unknown;
    for (let page = 0; page < mostPages && items.length < mostItems; page++) {
      const { answer, text } = await member.ask(method, cursor === undefined ? params : { ...params, cursor });
      // Its last list stands.
      if (answer.result === undefined) return;
      items.push(...itemsIn(text, method));
      freshness.push(freshnessOf(answer.result));
      cursor = answer.result['nextCursor'];
      if (typeof cursor !== 'string') break;
    }
    const known = this.#known.get(method) ?? new Map<HubMember, readonly Item[]>();
    this.#known.set(method, known);
    const before = known.get(member);
    known.set(member, items);
    const fresh = this.#freshness.get(method) ?? new Map<HubMember, readonly Freshness[]>();
    this.#freshness.set(method, fresh.set(member, freshness));
    const isLate = this.#late.delete(member);
    const isOther = JSON.stringify(before ?? []) !== JSON.stringify(items);
    if (isLate && isOther) this.#host.changed(method);
  }

  #merged(method: ListMethod): string {
    const { items, key } = kinds[method];
    const names = method === 'tools/list' ? this.tools : method === 'prompts/list' ? this.prompts : undefined;
    const known = this.#known.get(method);
    const texts: string[] = [];
    const uris = new Set<string>();
    names?.clear();
    if (method === 'resources/list') this.#owners.clear();
    // In the order of the configuration: of two that have the same, the first has it.
    for (const member of this.#host.members) {
      for (const item of known?.get(member) ?? []) {
        const name = names === undefined ? item.key : names.enter(member, item.key);
        if (name === undefined || (names === undefined && uris.has(name))) continue;
        uris.add(name);
        if (method === 'resources/list') this.#owners.set(name, member);
        for (const [, uri] of item.text.replaceAll('\\/', '/').matchAll(quotedUri)) this.#link(member, uri);
        texts.push(names === undefined ? item.text : withMember(item.text, key, name));
      }
    }
    return `"${items}":[${texts.join(',')}]`;
  }
}

function itemsIn(text: string, method: ListMethod): Item[] {
  const { items, key } = kinds[method];
  const result = memberSpan(text, 'result');
  const span = result === undefined ? undefined : memberSpan(text, items, result.start);
  if (span === undefined) return [];
  const array = text.slice(span.start, span.end);
  return elementSpans(array).flatMap(({ start, end }) => {
    const item = array.slice(start, end);
    const name = fieldsOf(JSON.parse(item))[key];
    return typeof name === 'string' ? [{ text: item, key: name }] : [];
  });
}

/** Longest URI and template that are compared, in characters. */
const longest = 4096;

/**
 * Tells whether a URI can be made of a template (RFC 6570): the text between its expressions stands in the URI, in order. An expression may be anything, so
 * that this says yes to some that the template cannot make; in linear time, since both come from elsewhere.
 */
export function templateMatches(template: string, uri: string): boolean {
  if (template.length > longest || uri.length > longest) return false;
  return hasParts(template.split(/\{[^{}]*\}/), uri);
}
