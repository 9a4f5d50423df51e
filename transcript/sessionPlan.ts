import type { Findings } from './findings.ts';
import { OwnIds } from './ownIds.ts';
import { createChains } from './sessionChains.ts';
import { pairLog } from './sessionPairs.ts';
import type { LogCall, LogNode, LogResult, SessionScan } from './sessionScan.ts';
import { derivedUuid } from '../src/protocol/face.ts';

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
      /** The id of its call in the end. */
      readonly callId: string;
      readonly more: readonly Place[];
    };

/** A content block of a line, from 0. */
export interface Place {
  readonly line: number;
  readonly block: number;
}

/** Edit of one line; lines without an edit stay byte for byte. */
export interface LineEdit {
  /** It goes; what was moved out of it is an insertion elsewhere. */
  isDropped?: boolean;
  /** Its new parent. */
  parent?: string | null;
  /** Its content blocks that go. */
  readonly blocks: Set<number>;
  /** Its content blocks that get another id of their call. */
  readonly ids: Map<number, string>;
  /** Its results to which others of their calls are joined, and where those stand. */
  readonly more: Map<number, readonly Place[]>;
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
    const known = edits.get(line) ?? {
      blocks: new Set(),
      ids: new Map(),
      more: new Map(),
      fields: new Map(),
      after: [],
    };
    edits.set(line, known);
    return known;
  };
  for (const line of scan.broken) findings.add({ rule: 'broken_line', at: line });
  for (const { line } of chains.reconnected) findings.add({ rule: 'disconnected', at: line });

  const { answered, more, dropped, gone, groups } = pairLog(scan, chains, findings);
  const ids = new OwnIds(
    [...scan.calls, ...scan.results].map(({ id }) => id),
    findings,
  );
  for (const group of groups) ids.tellApart(group);
  for (const call of scan.calls) if (ids.isNew(call)) edit(call.node.line).ids.set(call.block, ids.of(call));
  const moved = new Map<LogResult, LogCall>();
  for (const [call, result] of answered) if (!chains.isInPlace(result.node, call.node)) moved.set(result, call);
  for (const { node, block } of [...dropped, ...gone, ...moved.keys()]) edit(node.line).blocks.add(block);

  for (const [call, result] of answered) {
    const { id, at, node, block } = result;
    const callId = ids.of(call);
    const others = placesOf(more.get(result));
    if (id === '') findings.add({ rule: 'ambiguous_id', at, callId, tool: call.tool });
    if (id !== callId) edit(node.line).ids.set(block, callId);
    if (others.length > 0) edit(node.line).more.set(block, others);
  }

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

  /** Lines that hang from a call now hang from the last result that was put there. */
  const hooks = new Map<LogNode, string>();
  for (const call of scan.calls) {
    const { tool, at, node } = call;
    const callId = ids.of(call);
    const result = answered.get(call);
    if (gone.has(call)) continue;
    if (result !== undefined && !moved.has(result)) continue;
    const derived = derivedUuid(`${node.uuid} ${callId}`);
    const uuid = result !== undefined && keepsUuid.has(result) ? undefined : derived;
    const { after } = edit(chains.endOfTurn(node));
    if (result === undefined) {
      findings.add({ rule: 'unanswered', at, callId, tool });
      after.push({ kind: 'answer', from: at, callId, uuid: derived });
    } else {
      findings.add({ rule: 'displaced', at: result.at, callId, tool });
      const joining = { more: placesOf(more.get(result)) };
      after.push({
        kind: 'moved',
        from: result.at,
        block: result.block,
        callUuid: node.uuid,
        uuid,
        callId,
        ...joining,
      });
    }
    hooks.set(node, uuid ?? result?.node.uuid ?? derived);
  }

  /** The answers whose calls a line has results of; with a shared id it may hang from another block of theirs. */
  const answers = new Map<LogNode, Set<number>>();
  for (const [{ node: asking }, { node }] of answered) {
    answers.set(node, (answers.get(node) ?? new Set()).add(chains.endOfTurn(asking)));
  }
  for (const node of scan.nodes) {
    const named = chains.parentOf(node);
    if (named === undefined || lifted.has(node)) continue;
    const { above, uuid } = standing(named);
    const hook = above === undefined ? undefined : hooks.get(above);
    const isOfCall =
      above !== undefined &&
      (chains.isSameTurn(node, above) || answers.get(node)?.has(chains.endOfTurn(above)) === true);
    const parent = hook === undefined || isOfCall ? uuid : hook;
    if (parent !== node.parent) edit(node.line).parent = parent;
  }
  for (const { line } of chains.alone) edit(line).parent = null;
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
      // A parent that is missing beside broken lines was in one of them.
      if (next === undefined) return { above: undefined, uuid: scan.broken.length > 0 ? null : above.parent };
      above = next;
    }
    return lifted.has(above) ? { above: undefined, uuid: null } : { above, uuid: above.uuid };
  }
}

function placesOf(results: readonly LogResult[] = []): readonly Place[] {
  return results.map(({ at, block }) => ({ line: at, block }));
}
