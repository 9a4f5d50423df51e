import { type RepairRule, repairRules, type TranscriptFinding } from '../../protocol/transcript/findings.ts';
import type { Io } from '../io.ts';
import { sanitize, toJson } from '../sanitize.ts';
import { renderTable } from '../table.ts';
import type { FileRepair } from './file.ts';

/** Findings of each rule, and their repair. */
const words: Readonly<Record<RepairRule, readonly [found: string, done: string]>> = {
  unanswered: ['call without a result', 'answered: outcome unknown'],
  displaced: ['result in the wrong place', 'moved to its call'],
  duplicate: ['second result of a call', 'dropped'],
  orphan: ['result without a call', 'dropped'],
  repeated_call: ['call repeated in its turn', 'dropped'],
  ambiguous_id: ['call without an id of its own', 'got one'],
  partial_call: ['call that was cut off', 'dropped'],
  split_turn: ['turn in several messages', 'joined'],
  disconnected: ['line whose parent is lost', 'connected again'],
  torn_end: ['last line cut off', 'its end added'],
  broken_line: ['line that is no JSON', 'kept'],
};

/** Places that are named for each rule. */
const placesNamed = 5;

export function reportText(repair: FileRepair, { columns }: Pick<Io, 'columns'>): string {
  const { file, format, counts, findings, unit } = repair;
  const name = sanitize(file);
  const found = repairRules.filter((rule) => counts[rule] > 0);
  const rows = found.map((rule) => {
    const [what, done] = words[rule];
    return [what, String(counts[rule]), placesOf(rule, findings, counts[rule], unit), done];
  });
  const titles = [
    { title: 'FOUND' },
    { title: 'COUNT', align: 'right' },
    { title: 'WHERE', stacks: true },
    { title: 'REPAIR' },
  ] as const;
  const table = rows.length === 0 ? '' : renderTable(titles, rows, columns);
  const differing = findings.filter(({ differs }) => differs === true).length;
  const notes =
    differing === 0
      ? ''
      : `${differing} of the second results said something else than the first, and ${differing === 1 ? 'was' : 'were'} joined to it.\n`;
  return `${name}: ${format ?? 'messages without tools'}\n${table}${notes}${ending(repair)}\n`;
}

function placesOf(rule: RepairRule, findings: readonly TranscriptFinding[], count: number, unit: string): string {
  const places = findings.filter((finding) => finding.rule === rule).slice(0, placesNamed);
  return `${unit} ${places.map(({ at }) => at).join(', ')}${count > places.length ? ', ...' : ''}`;
}

function ending({ repairs, written, backup }: FileRepair): string {
  const count = `${repairs} ${repairs === 1 ? 'repair' : 'repairs'}`;
  if (backup !== undefined) return `${count} made; the original is ${sanitize(backup)}.`;
  const into = written === undefined ? '' : `; written to ${sanitize(written)}`;
  if (repairs === 0) return `Nothing to repair${into}.`;
  return written === undefined ? `${count} to make; nothing was changed.` : `${count} made${into}.`;
}

export function reportJson(repair: FileRepair): string {
  const { file, format, repairs, counts, unit, findings, written, backup } = repair;
  return toJson({
    file,
    format: format ?? null,
    repairs,
    counts,
    unit,
    findings,
    written: written ?? null,
    backup: backup ?? null,
  });
}
