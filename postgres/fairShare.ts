/** A node that lives. A session that is on its way counts as its heir's. */
export interface NodeLoad {
  readonly node: string;
  readonly owned: number;
  /** Sessions that it still has and that are decided to go to others. */
  readonly leaving: number;
  /** True where it would take sessions that others own. */
  readonly waits: boolean;
}

/** A session of another node that may move. */
export interface Movable {
  readonly session: string;
  readonly owner: string;
}

/** By how much the counts of two nodes may differ before a session is moved. @param owned - what the one with more owns. */
export function slackOf(owned: number): number {
  return Math.max(2, Math.floor(owned / 10));
}

/**
 * Chooses which sessions a node is to take from others. It begins when one owns more by more than the slack. It takes each from the one that owns most, while
 * that one owns at least two more, and up to its own share: so every move lowers the sum of the squares of all counts.
 * @param most - sessions it takes at once, and sessions that may be leaving one owner.
 */
export function chooseMoves(
  taker: string,
  loads: readonly NodeLoad[],
  movables: readonly Movable[],
  most: number,
): readonly Movable[] {
  const owned = new Map(loads.map((load) => [load.node, load.owned]));
  const givers = giversOf(loads, movables, most);
  let mine = owned.get(taker) ?? 0;
  const largest = Math.max(0, ...givers.map(({ node }) => owned.get(node) ?? 0));
  if (largest - mine <= slackOf(largest)) return [];
  const share = shareOf(taker, loads, givers);
  const chosen: Movable[] = [];
  while (chosen.length < most && mine < share) {
    let from: Giver | undefined;
    let before = mine + 1;
    for (const giver of givers) {
      const has = owned.get(giver.node) ?? 0;
      if (giver.sessions.length > 0 && has > before) [from, before] = [giver, has];
    }
    const session = from?.sessions.pop();
    if (from === undefined || session === undefined) break;
    chosen.push({ session, owner: from.node });
    owned.set(from.node, before - 1);
    mine++;
  }
  return chosen;
}

interface Giver {
  readonly node: string;
  /** Sessions that it may give now. */
  readonly sessions: string[];
}

function giversOf(loads: readonly NodeLoad[], movables: readonly Movable[], most: number): readonly Giver[] {
  return loads.flatMap(({ node, leaving }) => {
    const sessions = movables.flatMap(({ session, owner }) => (owner === node ? [session] : []));
    const left = sessions.slice(0, Math.max(0, most - leaving));
    return left.length === 0 ? [] : [{ node, sessions: left }];
  });
}

/** Counts what a node would own if it, those it can take from and all who wait owned as many. */
function shareOf(taker: string, loads: readonly NodeLoad[], givers: readonly Giver[]): number {
  const parts = loads.filter(
    ({ node, waits }) => waits || node === taker || givers.some((giver) => giver.node === node),
  );
  const all = parts.reduce((sum, { owned }) => sum + owned, 0);
  return Math.ceil(all / Math.max(1, parts.length));
}
