import type { LogCall, LogNode, LogResult, SessionScan } from './sessionScan.ts';

/** Links between the lines of a log. */
export type Chains = ReturnType<typeof createChains>;

export function createChains({ nodes, byUuid, calls, broken }: SessionScan) {
  const connected = new Map<LogNode, LogNode>();
  const parentOf = (node: LogNode): LogNode | undefined =>
    connected.get(node) ?? (node.parent === null ? undefined : byUuid.get(node.parent));
  const lost = lostParents(nodes, byUuid, broken);
  // Only where a parent stands below its child could a new link close a ring.
  const mayRing = lost.length > 0 && nodes.some((node) => (parentOf(node)?.line ?? 0) > node.line);
  const alone: LogNode[] = [];
  for (const [node, parent] of lost) {
    if (!mayRing || !isAbove(node, parent, parentOf)) connected.set(node, parent);
    else alone.push(node);
  }

  const isSameTurn = (node: LogNode, parent: LogNode): boolean =>
    node.isAssistant && parent.isAssistant && node.messageId !== undefined && node.messageId === parent.messageId;

  const ends = new Map<LogNode, { line: number }>();
  for (const node of nodes) {
    const parent = parentOf(node);
    const end = (parent !== undefined && isSameTurn(node, parent) ? ends.get(parent) : undefined) ?? { line: 0 };
    end.line = Math.max(end.line, node.line);
    if (node.isAssistant) ends.set(node, end);
  }

  const callsById = new Map<string, LogCall[]>();
  for (const call of calls) {
    const known = callsById.get(call.id);
    if (known === undefined) callsById.set(call.id, [call]);
    else known.push(call);
  }

  /** Tells whether `call` is a later block of the answer of `node`, or that block itself. */
  const isBlockBelow = (call: LogNode, node: LogNode): boolean => {
    for (let at: LogNode = call; ; ) {
      if (at === node) return true;
      const parent = parentOf(at);
      if (parent === undefined || parent.line >= at.line || !isSameTurn(at, parent)) return false;
      at = parent;
    }
  };

  return {
    /** Lines whose parent was lost in a broken line, and that got another one. */
    reconnected: [...connected.keys(), ...alone],
    /** Those of them that hang from nothing: all that could be their parent hangs from them. */
    alone,
    parentOf,
    /** Tells whether two lines, one the parent of the other, are blocks of one answer. */
    isSameTurn,
    /** The last line of the answer that a line is a block of. */
    endOfTurn: (node: LogNode): number => ends.get(node)?.line ?? node.line,
    /** Tells whether a result stands below its call, with no other answer between them. */
    isInPlace(result: LogNode, call: LogNode): boolean {
      const first = parentOf(result);
      if (first !== undefined && isBlockBelow(call, first)) return true;
      for (const above of ancestors(result, parentOf)) {
        if (above === call) return true;
        if (above.isAssistant && (above.messageId === undefined || above.messageId !== call.messageId)) return false;
      }
      return false;
    },
    /** The call that a result belongs to: the nearest one above it, else the last one of the id. */
    callOf({ id, at, node }: LogResult): LogCall | undefined {
      const candidates = callsById.get(id);
      if (candidates === undefined || candidates.length === 1) return candidates?.[0];
      // The first of two calls of one line counts.
      const lines = new Map(candidates.toReversed().map((call) => [call.node, call]));
      for (const above of ancestors(node, parentOf)) {
        const call = lines.get(above);
        if (call !== undefined) return call;
      }
      return candidates.findLast((call) => call.at < at) ?? candidates[0];
    },
  };
}

/** The lines above one, nearest first; ends where a ring closes. */
function* ancestors(node: LogNode, parentOf: (node: LogNode) => LogNode | undefined): Generator<LogNode> {
  // Parents stand before their children nearly always; only where one does not could there be a ring.
  const passed = new Set<LogNode>();
  for (let at = parentOf(node); at !== undefined; at = parentOf(at)) {
    if (passed.has(at)) return;
    passed.add(at);
    yield at;
  }
}

function isAbove(node: LogNode, of: LogNode, parentOf: (node: LogNode) => LogNode | undefined): boolean {
  if (node === of) return true;
  for (const above of ancestors(of, parentOf)) if (above === node) return true;
  return false;
}

/** For lines whose parent is missing: the last line before the broken line that held it. */
function lostParents(
  nodes: readonly LogNode[],
  byUuid: ReadonlyMap<string, LogNode>,
  broken: readonly number[],
): [LogNode, LogNode][] {
  if (broken.length === 0) return [];
  const found: [LogNode, LogNode][] = [];
  const sorted = nodes.toSorted((a, b) => a.line - b.line);
  let next = 0;
  // The last line of the main chain and of sidechains: before the latest broken line, and so far.
  const before = new Map<boolean, LogNode>();
  const latest = new Map<boolean, LogNode>();
  for (const node of sorted) {
    let line = broken[next];
    while (line !== undefined && line < node.line) {
      for (const [side, last] of latest) before.set(side, last);
      line = broken[++next];
    }
    const parent = before.get(node.isSidechain);
    if (node.parent !== null && !byUuid.has(node.parent) && parent !== undefined) found.push([node, parent]);
    // Of two lines of one uuid the first is its place in the chain.
    latest.set(node.isSidechain, byUuid.get(node.uuid) ?? node);
  }
  return found;
}
