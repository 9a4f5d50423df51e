import { transcriptFormats } from '../../transcript/detect.ts';
import { type RepairRule, repairRules, type TranscriptFinding } from '../../transcript/findings.ts';
import { defineCommand, flag, text } from '../command.ts';
import { knownWord, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { sanitize, toJson } from '../sanitize.ts';
import { renderTable } from '../table.ts';
import { type FileRepair, repairFile } from './file.ts';

export const command = defineCommand({
  usage: 'repair FILE [--format NAME] [--check] [--out FILE] [--json]',
  details: [
    'FILE is a session of Claude Code (~/.claude/projects/*/*.jsonl), or JSON up to 256 MB: messages of Anthropic or of OpenAI chat',
    'completions, items of OpenAI responses, or a request with them. End the program that writes it first.',
    '',
    'A call without a result gets an error result that says its outcome is unknown. A result in the wrong place is moved to its',
    'call; a second one of the same call, or one without a call, is dropped. Lines that are no JSON are kept and counted.',
    '',
    'Without --out FILE is repaired in place and the original kept beside it as FILE.bak (or .bak2, .bak3, ...); a file that needs no',
    'repair is not touched. With --out FILE stays as it is. Files are replaced whole or not at all.',
    'Exit codes: 0 well-formed or repaired, 1 with --check when there is something to repair, 2 could not be done.',
  ].join('\n'),
  options: {
    format: text('NAME', `${transcriptFormats.join(', ')}; else found out from FILE`, transcriptFormats),
    check: flag('change nothing; exit 1 when there is something to repair'),
    out: text('FILE', 'write the result there; it must not exist yet'),
  },
  operands: ['FILE'],
  errorCode: 2,
  async run(args, io) {
    const [file = ''] = args.operands;
    const format = knownWord('format', args.format, transcriptFormats);
    if (args.check && args.out !== undefined) throw new UsageError('--check writes nothing; leave out --out');
    const target = args.check ? 'nowhere' : args.out === undefined ? 'in-place' : { out: args.out };
    const outcome = await repairFile(file, target, format, io.signal);
    io.stdout.write(args.json ? reportJson(outcome) : reportText(outcome, io));
    return args.check && outcome.repairs > 0 ? 1 : 0;
  },
});

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

function reportText(repair: FileRepair, { columns }: Pick<Io, 'columns'>): string {
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

function reportJson(repair: FileRepair): string {
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
