import type { FailureFacts } from './failures/failure.ts';
import { globFits } from './text/glob.ts';
import type { ToolAccessOptions, ToolSettings } from './toolOptions.ts';

/** Settings of tools by names and patterns. */
export interface ToolTable {
  get(name: string): ToolSettings | undefined;
  /** As they are written. */
  entries(): Iterable<[pattern: string, settings: ToolSettings]>;
}

/** Tools that one place renames. */
interface Renaming {
  readonly pattern: string;
  readonly to: string;
}

/** A tool as it is listed. */
export interface ListedAs {
  readonly name: string;
  /** Takes the place of its own. @defaultValue its own stays */
  readonly description?: string | undefined;
}

/** Names that are told of once each; a server may make up more. */
const mostTold = 1000;

/**
 * The operator's rules on the tools of one MCP server, for one who calls it: which there are, under which names. `deny` wins over `allow`, and each place that
 * allows has to. Rules name a tool as its server does; a caller as it is listed.
 */
export class ToolRules {
  readonly #server: string;
  readonly #places: readonly ToolAccessOptions[];
  readonly #tools: ToolTable;
  readonly #renamings: readonly Renaming[];
  /** Own names by those in the list that was given last. */
  readonly #listed = new Map<string, string>();
  readonly #told = new Set<string>();
  /** True where nothing is said of which tools there are, of names and of descriptions. */
  readonly isEmpty: boolean;

  /** @throws RangeError for a new name that is none, or that two tools would have. */
  constructor(server: string, places: readonly ToolAccessOptions[], tools: ToolTable) {
    const written = [...tools.entries()];
    this.#server = server;
    this.#places = places;
    this.#tools = tools;
    this.#renamings = written.flatMap(([pattern, { rename: to }]) => (to === undefined ? [] : [{ pattern, to }]));
    judgeNames(written, (pattern, says) => {
      const where = `in code and in \`policies.integrations.${server}\` together`;
      throw new RangeError(`Expected \`${server}.tools.${pattern}.rename\` ${says} (${where})`);
    });
    const isSaid = written.some(([, { rename, describe }]) => rename !== undefined || describe !== undefined);
    this.isEmpty = !isSaid && places.every(({ allow, deny }) => allow === undefined && deny === undefined);
  }

  /** Begins a list from its first page. */
  begin(): void {
    this.#listed.clear();
  }

  /**
   * Enters a tool into the list.
   * @param tell - told, once each, of two tools that would have one name: the one that was entered first keeps it.
   * @returns how it is listed; undefined where it is not.
   */
  enter(own: string, tell: (line: string, name: string, other: string) => void): ListedAs | undefined {
    if (this.#refusal(own) !== undefined) return undefined;
    const name = this.#shown(own);
    const other = this.#listed.get(name);
    if (other !== undefined && other !== own) {
      const line = `The tool \`${own}\` of ${this.#server} is left out: \`${name}\` is the name of its tool \`${other}\``;
      if (!this.#told.has(line) && this.#told.size < mostTold) tell(line, name, other);
      this.#told.add(line);
      return undefined;
    }
    this.#listed.set(name, own);
    return { name, description: this.#tools.get(own)?.describe };
  }

  /** Tells whether the list of the server decides which tool this names: one that is renamed to it, or the server's own. */
  needsList(name: string): boolean {
    return this.#renamings.some(({ to }) => globFits(to, name));
  }

  /** Finds the tool that a caller means, by its own name; or says which rule refuses it. */
  called(name: string): string | FailureFacts {
    const own = this.#listed.get(name) ?? this.#renamings.flatMap((each) => this.#meant(each, name))[0] ?? name;
    const shown = this.#shown(own);
    if (shown === name) return this.#refusal(own) ?? own;
    const rule = this.#refusal(own);
    if (rule !== undefined) return rule;
    return refused(`The rule \`rename: ${shown}\` has the tool ${name} of ${this.#server} called by that name alone`);
  }

  #shown(own: string): string {
    const to = this.#tools.get(own)?.rename;
    if (to?.includes('*') !== true) return to ?? own;
    const by = this.#renamings.find((each) => each.to === to && globFits(each.pattern, own));
    return by === undefined ? own : to.replace('*', () => starOf(by.pattern, own) ?? '');
  }

  /** Lists the tool that a renaming gives this name, if it gives it to one. */
  #meant({ pattern, to }: Renaming, name: string): readonly string[] {
    const own = to.includes('*') ? starOf(to, name) : to === name ? '' : undefined;
    if (own === undefined) return [];
    const tool = pattern.replace('*', () => own);
    return this.#shown(tool) === name ? [tool] : [];
  }

  #refusal(own: string): FailureFacts | undefined {
    const tool = `the tool ${own} of ${this.#server}`;
    for (const { deny = [] } of this.#places) {
      const rule = deny.find((pattern) => globFits(pattern, own));
      if (rule !== undefined) return refused(`The rule \`deny: ${rule}\` keeps ${tool} from being called`);
    }
    for (const { allow } of this.#places)
      if (allow?.some((pattern) => globFits(pattern, own)) === false)
        return refused(`The rule \`allow: ${allow.join(', ')}\` leaves out ${tool}`);
    return undefined;
  }
}

/** Facts of a call that a rule keeps from its server. */
export function refused(message: string, reason: 'denied' | 'held' = 'denied'): FailureFacts {
  return {
    kind: 'permanent',
    reason,
    message,
    outcome: 'not_started',
    shouldRetry: false,
    breaker: 'ignored',
  };
}

/** What the `*` of a pattern stands for in a text; undefined where the pattern does not fit it. */
function starOf(pattern: string, text: string): string | undefined {
  if (!globFits(pattern, text)) return undefined;
  const [before = '', after = ''] = pattern.split('*');
  return text.slice(before.length, text.length - after.length);
}

/** Tells what is wrong with the new names of tools. @param tell - hears the pattern whose name it is, and what was expected of it. */
export function judgeNames(
  tools: Iterable<readonly [pattern: string, { readonly rename?: string | undefined } | undefined]>,
  tell: (pattern: string, says: string) => void,
): void {
  const stars = (text: string): number => text.split('*').length - 1;
  const first = new Map<string, string>();
  for (const [pattern, { rename: to } = {}] of tools) {
    if (to === undefined) continue;
    const other = first.get(to);
    if (stars(pattern) !== stars(to) || stars(to) > 1)
      tell(pattern, `to have a * for the one of its pattern, got ${to}`);
    else if (other !== undefined) tell(pattern, `to be a name of its own, got ${to}, which \`${other}\` has`);
    else if (to.startsWith('unwedge_')) tell(pattern, `to be none of the tools that unwedge adds, got ${to}`);
    else first.set(to, pattern);
  }
}
