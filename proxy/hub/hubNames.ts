import { readResultTool } from '../../src/protocol/mcp/face.ts';
import type { HubMember } from './hubMember.ts';

/** Longest name that the APIs of models take, in characters. */
const longestName = 64;
/** Between the name of a server and that of what it has. */
export const separator = '__';

/** Meaning of a name of the hub. */
export interface Named {
  readonly member: HubMember;
  /** As its server calls it. */
  readonly own: string;
}

/** Something that a server has and the hub does not. */
export interface LeftOut extends Named {
  readonly what: 'tool' | 'prompt';
  /** The name that it cannot have. */
  readonly as: string;
  readonly reason: 'too_long' | 'taken';
  /** Owner of the name. */
  readonly by?: Named | undefined;
}

/** The names of one kind of thing (tools, prompts) over all servers. */
export class HubNames {
  readonly #what: LeftOut['what'];
  readonly #leftOut: (left: LeftOut) => void;
  readonly #said = new Set<string>();
  #byName = new Map<string, Named>();

  /** @param leftOut - told once of each name that cannot be had, and why. */
  constructor(what: LeftOut['what'], leftOut: (left: LeftOut) => void) {
    this.#what = what;
    this.#leftOut = leftOut;
  }

  /** Begins a new list. */
  clear(): void {
    this.#byName = new Map();
  }

  /** Enters what a server has. @returns its name in the hub; undefined when it cannot have one. */
  enter(member: HubMember, own: string): string | undefined {
    // Of those that read large results any reads those of all.
    const isOurs = own === readResultTool.name;
    const name = isOurs ? own : `${member.name}${separator}${own}`;
    const other = this.#byName.get(name);
    if (isOurs && other !== undefined) return undefined;
    if (name.length > longestName) this.#leave({ member, own, as: name, reason: 'too_long' });
    else if (other !== undefined) this.#leave({ member, own, as: name, reason: 'taken', by: other });
    else {
      this.#byName.set(name, { member, own });
      return name;
    }
    return undefined;
  }

  /** Finds what a name stands for: as it was listed, else by the server that it begins with. */
  find(name: string, members: readonly HubMember[]): Named | undefined {
    const listed = this.#byName.get(name);
    if (listed !== undefined) return listed;
    // The view of an application knows its server alone, and the names that that gives.
    const [only, ...more] = [...this.#byName.values()].filter(({ own }) => own === name);
    if (more.length === 0 && only !== undefined) return only;
    const owners = members.filter((member) => name.startsWith(`${member.name}${separator}`));
    const member = owners.toSorted((a, b) => b.name.length - a.name.length)[0];
    return member && { member, own: name.slice(member.name.length + separator.length) };
  }

  #leave(left: Omit<LeftOut, 'what'>): void {
    const key = `${left.as} ${left.own}`;
    if (this.#said.has(key) || this.#said.size >= mostSaid) return;
    this.#said.add(key);
    this.#leftOut({ what: this.#what, ...left });
  }
}

/** Why something is left out, for people. */
export function leftOutText({ what, member, own, as, reason, by }: LeftOut): string {
  const why =
    reason === 'too_long'
      ? `has ${as.length} characters, ${longestName} are the most`
      : `is taken by \`${by?.own}\` of ${by?.member.name}`;
  return `The ${what} \`${own}\` of ${member.name} is left out: \`${as}\` ${why}`;
}

/** A server may make up names for ever. */
const mostSaid = 1000;
