import { recordIn, textHash, textIn } from '../src/protocol/face.ts';
import type { Interrupted } from './interrupted.ts';
import { asText, type Call, idIn, type Result } from './calls.ts';

/** Line of a session's log that is part of a chain: ids and places, never its content. */
export interface LogNode {
  /** Number of the line, from 1. */
  readonly line: number;
  readonly uuid: string;
  readonly parent: string | null;
  readonly isSidechain: boolean;
  readonly isAssistant: boolean;
  /** Id of the answer that the line is a block of. */
  readonly messageId: string | undefined;
  /** Content blocks of the line. */
  readonly blocks: number;
  /** True where a line before it has the same uuid. */
  readonly isTwin: boolean;
}

export interface LogCall extends Call {
  readonly node: LogNode;
  /** Number of its content block in its line. */
  readonly block: number;
}

export interface LogResult extends Result {
  readonly node: LogNode;
  /** Number of its content block in its line. */
  readonly block: number;
}

/** Findings on a log whose lines were read once; plain data. */
export interface SessionScan {
  lines: number;
  /** Lines that are no JSON. */
  readonly broken: number[];
  readonly nodes: LogNode[];
  readonly byUuid: Map<string, LogNode>;
  readonly calls: LogCall[];
  readonly results: LogResult[];
  /** Lines that name the uuid of another one besides their parent. */
  readonly references: { readonly line: number; readonly field: string; readonly uuid: string }[];
}

export function emptyScan(): SessionScan {
  return { lines: 0, broken: [], nodes: [], byUuid: new Map(), calls: [], results: [], references: [] };
}

/** Fields by which an entry refers to another one. */
const referring = ['leafUuid', 'logicalParentUuid'];

/** Takes in the next line. @param entry - what it says; undefined when it is no JSON, null when it is blank. */
export function scanEntry(scan: SessionScan, entry: unknown, { stands }: Interrupted): void {
  const line = ++scan.lines;
  if (entry === undefined) scan.broken.push(line);
  const record = recordIn(entry);
  if (record === undefined) return;
  for (const field of referring) {
    const uuid = textIn(record[field]);
    if (uuid !== undefined) scan.references.push({ line, field, uuid });
  }
  const uuid = textIn(record['uuid']);
  if (uuid === undefined) return;
  const message = recordIn(record['message']);
  const content: readonly unknown[] = Array.isArray(message?.['content']) ? message['content'] : [];
  const isAssistant = record['type'] === 'assistant';
  const node = {
    line,
    uuid,
    parent: textIn(record['parentUuid']) ?? null,
    isSidechain: record['isSidechain'] === true,
    isAssistant,
    messageId: isAssistant ? textIn(message?.['id']) : undefined,
    blocks: content.length,
    isTwin: scan.byUuid.has(uuid),
  };
  scan.nodes.push(node);
  if (!node.isTwin) scan.byUuid.set(uuid, node);

  content.forEach((each, block) => {
    const fields = recordIn(each);
    const type = fields?.['type'];
    const id = idIn(type === 'tool_use' ? fields?.['id'] : fields?.['tool_use_id']);
    if (type === 'tool_use' && isAssistant && !node.isTwin) {
      const input = textHash(asText(fields?.['input']));
      scan.calls.push({ id, tool: textIn(fields?.['name']), input, at: line, node, block });
    } else if (type === 'tool_result' && record['type'] === 'user') {
      const said = fields?.['content'];
      const content = textHash(JSON.stringify(said) ?? '');
      scan.results.push({ id, at: line, synthetic: stands(said), content, node, block });
    }
  });
}
