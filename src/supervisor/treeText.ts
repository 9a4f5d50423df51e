import { formatDuration } from '../policy/text/duration.ts';
import { integer, type Given } from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import { wrapWords } from '../policy/text/textWidth.ts';
import type { TreeNode } from './tree.ts';

const treeKeys = {
  /**
   * Children shown of each supervisor; at least 0, `Infinity` for all. Those that are not running come before those that are, and those that are asleep last;
   * of the others there is a line that counts them by state. @defaultValue 50
   */
  maxChildren: integer({ min: 0, infinite: true, default: 50 }),
  /** Longest line, in characters; at least 20, `Infinity` for no limit. @defaultValue 160 */
  width: integer({ min: 20, infinite: true, default: 160 }),
};

/** Options of a tree as text. */
export interface TreeTextOptions extends Given<typeof treeKeys> {}

interface Column {
  readonly title: string;
  readonly right?: boolean;
  readonly of: (node: TreeNode) => string;
}

/** Text that stands before a node, and before its children. */
interface Branches {
  readonly own: string;
  readonly below: string;
}

/** A node behind its branches, or a line of text in their place. */
interface Row {
  readonly branches: string;
  readonly node: TreeNode | undefined;
  readonly text: string;
}

const gap = '  ';
const longestName = 60;
const longestState = 30;
const longestCell = 1000;
/** Below branches that take all the width, in characters. */
const leastRoom = 10;

const columns: readonly Column[] = [
  { title: 'STATE', of: stateText },
  { title: 'MACHINE', of: ({ machineState }) => fit(plain(machineState ?? ''), longestState) },
  { title: 'RESTARTS', right: true, of: ({ restarts }) => number(restarts) },
  { title: 'QUEUED', right: true, of: ({ queued }) => number(queued) },
  { title: 'DEAD LETTERS', right: true, of: ({ deadLetters }) => number(deadLetters) },
  { title: 'DETAILS', of: ({ details }) => fit(detailsText(details ?? {}), longestName) },
  { title: 'LAST ERROR', of: ({ lastError }) => plain(lastError ?? '') },
];

/**
 * The tree as aligned lines for people, one for each child, under a heading; columns that would be empty are left out. Text
 * of children is made harmless: one line, no control characters.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * process.stdout.write(treeText(gateway.tree(), { maxChildren: 20 }));
 */
export function treeText(node: TreeNode, options: TreeTextOptions = {}): string {
  const { maxChildren, width } = readOptions('options', options, treeKeys);
  const rows: Row[] = [];
  addRows(rows, node, { own: '', below: '' }, maxChildren);
  const lines = [['NAME', ...columns.map(({ title }) => title)], ...rows.map(cells)];
  const used = columns.map((_, index) => lines.slice(1).some((line) => (line[index + 1] ?? '') !== ''));
  const widths = columns.map((_, index) => longest(lines.map((line) => line[index + 1] ?? '')));
  const nameWidth = longest(lines.filter((line) => line.length > 1).map(([name = '']) => name));
  const beside = besideOf(nameWidth, widths, used, width);
  const text = lines.flatMap(([name = '', ...rest], at) => {
    const padded = rest.map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.right === true));
    const line = [name.padEnd(nameWidth), ...padded.filter((_, index) => beside[index])].join(gap).trimEnd();
    const below = at === 0 ? '' : belowText(rest, beside);
    return [fit(line, width), ...(below === '' ? [] : belowLines(underBranches(rows[at - 1]), below, width))];
  });
  return `${text.join('\n')}\n`;
}

/** Chooses which columns stand beside the names: as many as there is room for, in their order. The others go below its row. */
function besideOf(nameWidth: number, widths: readonly number[], used: readonly boolean[], width: number): boolean[] {
  let left = width - nameWidth;
  let isFull = false;
  return used.map((isUsed, index) => {
    if (!isUsed) return false;
    left -= gap.length + (widths[index] ?? 0);
    isFull ||= left < 0;
    return !isFull;
  });
}

/** Writes what there was no room for; figures that are zero say nothing there. */
function belowText(cells: readonly string[], beside: readonly boolean[]): string {
  return columns
    .map(({ title }, index) => ({ title, text: cells[index] ?? '', isBeside: beside[index] === true }))
    .filter(({ text, isBeside }) => !isBeside && text !== '' && text !== '0')
    .map(({ title, text }) => `${title.toLowerCase()}: ${text}`)
    .join(', ');
}

/** In as many lines as it takes: the cause of a crash is often at its end. A word that is too long for a line goes on in the next. */
function belowLines(branches: string, text: string, width: number): readonly string[] {
  const room = Math.max(leastRoom, width - branches.length);
  return wrapWords(text, room)
    .flatMap((line) => line.match(new RegExp(`.{1,${room}}`, 'gu')) ?? [])
    .map((line) => fit(branches + line, width));
}

/** The branches that go on below a row. */
function underBranches(row: Row | undefined): string {
  return `${(row?.branches ?? '').replaceAll('├─ ', '│  ').replaceAll('└─ ', '   ')}   `;
}

function addRows(rows: Row[], node: TreeNode, { own, below }: Branches, maxChildren: number): void {
  const children = node.children ?? [];
  const shown = choose(children, maxChildren);
  rows.push({ branches: own, node, text: node.id });
  for (const [index, child] of shown.entries()) {
    const last = index === children.length - 1;
    const branches = last ? { own: `${below}└─ `, below: `${below}   ` } : { own: `${below}├─ `, below: `${below}│  ` };
    addRows(rows, child, branches, maxChildren);
  }
  if (shown.length < children.length) {
    rows.push({ branches: `${below}└─ `, node: undefined, text: leftOut(children, new Set(shown)) });
  }
}

/** In start order. People look at a tree for trouble, so children that run give way to those that do not, and those that are asleep to both. */
function choose(children: readonly TreeNode[], max: number): readonly TreeNode[] {
  if (children.length <= max) return children;
  const quiet: readonly string[] = ['running', 'asleep'];
  const of = (state: string) => children.filter((child) => child.state === state);
  const troubled = children.filter(({ state }) => !quiet.includes(state));
  const shown = new Set([...troubled, ...quiet.flatMap(of)].slice(0, max));
  return children.filter((child) => shown.has(child));
}

function leftOut(children: readonly TreeNode[], shown: ReadonlySet<TreeNode>): string {
  const counts = new Map<string, number>();
  for (const child of children) {
    if (!shown.has(child)) counts.set(child.state, (counts.get(child.state) ?? 0) + 1);
  }
  const states = Array.from(counts, ([state, count]) => `${number(count)} ${state}`);
  return `… and ${number(children.length - shown.size)} more (${states.join(', ')})`;
}

function cells({ branches, node, text }: Row): string[] {
  if (node === undefined) return [branches + text];
  return [branches + fit(clean(text), longestName), ...columns.map(({ of }) => clean(of(node)))];
}

function stateText({ state, nextRestartInMs }: TreeNode): string {
  if (nextRestartInMs === undefined) return state;
  return `${state}, ${nextRestartInMs === 0 ? 'now' : `in ${formatDuration(Math.ceil(nextRestartInMs))}`}`;
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(details).map(([key, value]) => {
    return `${key}=${plain(value)}`;
  });
  return parts.join(' ');
}

function plain(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return '?';
  }
}

function number(value: number | undefined): string {
  return value === undefined ? '' : value.toLocaleString('en-US');
}

function clean(text: string): string {
  return text
    .slice(0, longestCell)
    .replaceAll(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ')
    .trim();
}

function fit(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function pad(text: string, width: number, right: boolean): string {
  return right ? text.padStart(width) : text.padEnd(width);
}

function longest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, text.length), 0);
}
