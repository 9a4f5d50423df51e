import type { Findings } from './findings.ts';
import { duplicate } from './pairing.ts';
import { createChains } from './sessionChains.ts';
import type { LogCall, LogNode, LogResult, SessionScan } from './sessionScan.ts';
import { derivedUuid } from '../textHash.ts';

/** A line that comes in behind another one. */
export type Insertion =
  /** A synthetic result for a call of line `from`. */
  | { readonly kind: 'answer'; readonly from: number; readonly callId: string; readonly uuid: string }
  /** A result of line `from`, moved behind its call. */
  | {
      readonly kind: 'moved';
      readonly from: number;
      readonly block: number;
      readonly callUuid: string;
      /** Undefined when the line keeps its own. */
      readonly uuid: string | undefined;
    };

/** What happens to one line; lines without an edit stay byte for byte. */
export interface LineEdit {
  /** It goes; what was moved out of it is an insertion elsewhere. */
  isDropped?: boolean;
  /** Its new parent. */
  parent?: string | null;
  /** Its content blocks that go. */
  readonly blocks: Set<number>;
  /** Other fields that get a new uuid. */
  readonly fields: Map<string, string | null>;
  readonly after: Insertion[];
}

/** The edits by the number of the line, from 1. */
export type SessionPlan = ReadonlyMap<number, LineEdit>;

/**
 * Decides what makes each chain of a session's log well-formed: every branch and sidechain is a chain of its own, since a result
 * belongs to the nearest call above it. A result hangs from the line of its call; what hung from there hangs from the result.
 */
export function planSession(scan: SessionScan, findings: Findings): SessionPlan {
  const chains = createChains(scan);
  const edits = new Map<number, LineEdit>();
  const edit = (line: number): LineEdit => {
    const known = edits.get(line) ?? { blocks: new Set(), fields: new Map(), after: [] };
    edits.set(line, known);
    return known;
  };
  for (const line of scan.broken) findings.add({ rule: 'broken_line', at: line });
  for (const { line } of chains.reconnected) findings.add({ rule: 'disconnected', at: line });

  const { answered, orphans, losers } = pairResults(scan, chains.callOf, findings);
  const moved = new Map<LogResult, LogCall>();
  for (const [call, result] of answered) if (!chains.isInPlace(result.node, call.node)) moved.set(result, call);
  for (const { node, block } of [...orphans, ...losers, ...moved.keys()]) edit(node.line).blocks.add(block);

  /** Nodes that leave their place in the chain. */
  const lifted = new Set<LogNode>();
  const keepsUuid = new Set<LogResult>();
  for (const node of scan.nodes) {
    const own = edits.get(node.line);
    if (own === undefined || own.blocks.size < node.blocks) continue;
    own.isDropped = true;
    if (!node.isTwin) lifted.add(node);
  }
  const given = new Set<LogNode>();
  for (const result of moved.keys()) {
    const { node } = result;
    if (edits.get(node.line)?.isDropped !== true || node.isTwin || given.has(node)) continue;
    given.add(node);
    keepsUuid.add(result);
  }

  /** What hangs from a call now hangs from the last result that was put there. */
  const hooks = new Map<LogNode, string>();
  for (const call of scan.calls) {
    const { id: callId, tool, at, node } = call;
    const result = answered.get(call);
    if (result !== undefined && !moved.has(result)) continue;
    const derived = derivedUuid(`${node.uuid} ${callId}`);
    const uuid = result !== undefined && keepsUuid.has(result) ? undefined : derived;
    const { after } = edit(chains.endOfTurn(node));
    if (result === undefined) {
      findings.add({ rule: 'unanswered', at, callId, tool });
      after.push({ kind: 'answer', from: at, callId, uuid: derived });
    } else {
      findings.add({ rule: 'displaced', at: result.at, callId, tool });
      after.push({ kind: 'moved', from: result.at, block: result.block, callUuid: node.uuid, uuid });
    }
    hooks.set(node, uuid ?? result?.node.uuid ?? derived);
  }

  const calledAt = new Map<LogNode, Set<LogNode>>();
  for (const [call, { node }] of answered) calledAt.set(node, (calledAt.get(node) ?? new Set()).add(call.node));
  for (const node of scan.nodes) {
    const named = chains.parentOf(node);
    if (named === undefined || lifted.has(node)) continue;
    const { above, uuid } = standing(named);
    const hook = above === undefined ? undefined : hooks.get(above);
    const isOfCall = above !== undefined && (chains.isSameTurn(node, above) || calledAt.get(node)?.has(above) === true);
    const parent = hook === undefined || isOfCall ? uuid : hook;
    if (parent !== node.parent) edit(node.line).parent = parent;
  }
  for (const { line, field, uuid } of scan.references) {
    const target = scan.byUuid.get(uuid);
    if (target === undefined || !lifted.has(target) || given.has(target)) continue;
    edit(line).fields.set(field, standing(target).uuid);
  }
  return edits;

  /** The node itself, or the next one above it that stays in its place; it may be in another file. */
  function standing(node: LogNode): { above: LogNode | undefined; uuid: string | null } {
    if (!lifted.has(node)) return { above: node, uuid: node.uuid };
    const passed = new Set<LogNode>();
    let above = node;
    while (lifted.has(above) && !passed.has(above)) {
      passed.add(above);
      const next = chains.parentOf(above);
      if (next === undefined) return { above: undefined, uuid: above.parent };
      above = next;
    }
    return lifted.has(above) ? { above: undefined, uuid: null } : { above, uuid: above.uuid };
  }
}

/** Gives each call the result that is kept: the first real one, else the first. */
function pairResults(
  { results }: SessionScan,
  callOf: (result: LogResult) => LogCall | undefined,
  findings: Findings,
): { answered: ReadonlyMap<LogCall, LogResult>; orphans: readonly LogResult[]; losers: readonly LogResult[] } {
  const found = new Map<LogCall, LogResult[]>();
  const orphans: LogResult[] = [];
  for (const result of results) {
    const call = callOf(result);
    if (call === undefined) {
      orphans.push(result);
      findings.add({ rule: 'orphan', at: result.at, callId: result.id });
    } else found.set(call, [...(found.get(call) ?? []), result]);
  }
  const answered = new Map<LogCall, LogResult>();
  const losers: LogResult[] = [];
  for (const [call, each] of found) {
    const winner = each.find(({ synthetic }) => !synthetic) ?? each[0];
    if (winner !== undefined) answered.set(call, winner);
    for (const result of each) {
      if (result === winner) continue;
      losers.push(result);
      findings.add(duplicate(call, result, winner));
    }
  }
  return { answered, orphans, losers };
}
