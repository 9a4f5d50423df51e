import { recordIn } from '../src/protocol/agentReport.ts';
import { isLogEntry, transcriptFormats } from './detect.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import { editedEntries } from './sessionEdit.ts';
import { planSession, type SessionPlan } from './sessionPlan.ts';
import { emptyScan, scanEntry } from './sessionScan.ts';

/** Repairs the entries of a session's log of Claude Code. What needs no change stays the same object. */
export function repairSession(entries: readonly unknown[], findings: Findings, interrupted: Interrupted): unknown[] {
  const plan = planOf(entries, findings, interrupted);
  const read = (line: number): unknown => entries[line - 1];
  return entries.flatMap((entry, index) => {
    const edit = plan.get(index + 1);
    return edit === undefined ? [entry] : editedEntries(entry, edit, read, interrupted.sentence);
  });
}

/**
 * Repairs the text of a session's log. Lines without a change stay as they are, those that are no JSON, too.
 * @param isGuessed - whether nobody said that the text is such a log.
 * @throws RangeError when that was guessed wrong.
 */
export function repairSessionText(
  text: string,
  findings: Findings,
  interrupted: Interrupted,
  isGuessed: boolean,
): string {
  const lines = text.split('\n');
  const isTorn = lines.at(-1) !== '';
  if (!isTorn) lines.pop();
  const entries = lines.map(parseLine);
  if (isGuessed && !entries.some((entry) => isLogEntry(recordIn(entry) ?? {}))) {
    throw new RangeError(
      `Cannot tell the format of \`history\`: no line of the text is an entry of a session; name it with \`format\`, one of ${transcriptFormats.join(', ')}`,
    );
  }
  if (isTorn && entries.at(-1) === undefined) findings.add({ rule: 'torn_end', at: lines.length });
  const plan = planOf(entries, findings, interrupted);
  const read = (line: number): unknown => entries[line - 1];
  return lines
    .flatMap((line, index) => {
      const edit = plan.get(index + 1);
      const entry = entries[index];
      if (edit === undefined) return [line];
      return editedEntries(entry, edit, read, interrupted.sentence).map((each) =>
        each === entry ? line : JSON.stringify(each),
      );
    })
    .map((line) => `${line}\n`)
    .join('');
}

/** Returns what a line says: undefined when it is no JSON, null when it is blank. */
export function parseLine(line: string): unknown {
  if (line.trim() === '') return null;
  try {
    // The first line of a file may begin with a byte order mark.
    return JSON.parse(line.startsWith('\uFEFF') ? line.slice(1) : line);
  } catch {
    return undefined;
  }
}

function planOf(entries: readonly unknown[], findings: Findings, interrupted: Interrupted): SessionPlan {
  const scan = emptyScan();
  for (const entry of entries) scanEntry(scan, entry, interrupted);
  return planSession(scan, findings);
}
