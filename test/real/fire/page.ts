import { type Cell, doesNotAsk, type PromptEnd } from './cell.ts';
import { faults } from './faults.ts';
import { fireAgents } from './agents.ts';
import { idleMs, troubles } from './judge.ts';

const head = `<!-- Made by \`npm run fire\`: do not edit. -->
# Agents under fire

What a client sees of an agent whose model, or who itself, goes wrong: bare, and behind unwedge. Only what was seen is here: real agents, a model on the
loopback address that is made to fail, and a client that waits as long as it is told: the official one, each message beneath it counted (of the tables here
one of bare JSON-RPC). \`npm run fire -- --agents DIR\` runs it again with what is installed there, \`--help\` says how. Times are in seconds, of a busy machine; \`none\`: no end while the client waited.

**Bold** is what is not one true end in its time, with nothing left and nothing doubled: a failure told as success (\`end_turn\`), a prompt that never ends, an
end that is late, text that is shown \`N×\`, processes that are \`left\` 2 s after the end, a session that does not go on (\`then …\`: the next prompt, when the
model is well again).
`;

const tables: readonly {
  readonly mode: Cell['mode'];
  readonly way: Cell['way'];
  readonly title: string;
  readonly about: string;
}[] = [
  { mode: 'acp', way: 'bare', title: 'Over the Agent Client Protocol, bare', about: 'How a prompt ends, and when.' },
  {
    mode: 'acp',
    way: 'behind',
    title: 'The same behind `unwedge acp`',
    about: `With \`--idle-timeout ${idleMs / 1000}s\`, which is shorter than one would have it: what makes no progress for so long is ended.`,
  },
  { mode: 'headless', way: 'bare', title: 'Without an editor, bare', about: 'The exit code, and after how long.' },
  {
    mode: 'headless',
    way: 'behind',
    title: 'The same behind `unwedge run`',
    about: `With \`--no-output-timeout ${idleMs / 1000}s\`.`,
  },
];

/** What is kept of results, one cell a line: without words of agents, and without places of the machine. */
export function kept(cells: readonly Cell[]): string {
  const lines = cells
    .toSorted((one, other) => placeOf(one) - placeOf(other))
    .map((cell) =>
      JSON.stringify({ ...cell, text: '' }).replaceAll(/(?:\/[\w@.+-]+){2,}/g, (path) =>
        path.slice(path.lastIndexOf('/') + 1),
      ),
    );
  return `${lines.join('\n')}\n`;
}

/** Order of the tables, of their rows and of their columns. */
function placeOf({ mode, way, fault, agent }: Cell): number {
  const table = tables.findIndex((each) => each.mode === mode && each.way === way);
  const place = faults.findIndex(({ name }) => name === fault);
  return table * 10_000 + place * 100 + fireAgents.findIndex(({ name }) => name === agent);
}

/** Reads what {@link kept} gives. */
export const readKept = (text: string): readonly Cell[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Cell);

/** Makes the page of the results. */
export function page(cells: readonly Cell[]): string {
  const seen = tables
    .map((table) => ({ ...table, cells: cells.filter(({ mode, way }) => mode === table.mode && way === table.way) }))
    .filter((table) => table.cells.length > 0);
  const sections = seen.map(
    (table) => `## ${table.title}\n\n${table.about} ${tally(table.cells)}\n\n${tableOf(table.cells)}\n`,
  );
  return [head, ...sections, notes(cells)].join('\n');
}

function tally(cells: readonly Cell[]): string {
  const fine = cells.filter((cell) => troubles(cell).length === 0).length;
  return `${fine} of ${cells.length} are as they should be.`;
}

function tableOf(cells: readonly Cell[]): string {
  const agents = fireAgents.map(({ name }) => name).filter((name) => cells.some(({ agent }) => agent === name));
  const versions = agents.map((name) => {
    const { version } = cells.find(({ agent }) => agent === name) ?? {};
    return `${name} ${version}`;
  });
  const rows = faults
    .filter(({ name }) => cells.some(({ fault }) => fault === name))
    .map(({ name, title }) =>
      row([
        title,
        ...agents.map((agent) => {
          const cell = cells.find((each) => each.agent === agent && each.fault === name);
          return cell === undefined ? '–' : cellText(cell);
        }),
      ]),
    );
  return [row(['', ...versions]), row(['', ...versions].map(() => '---')), ...rows].join('\n');
}

const row = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;

/** A cell of a table. @example '**end_turn** 7.1' */
export function cellText(cell: Cell): string {
  const found = troubles(cell);
  if (cell.broken !== undefined) return cell.broken === doesNotAsk ? 'does not ask' : '**did not start**';
  const { prompts, shown, next, left, exit } = cell;
  const isBad = ['untrue', 'not answered once', 'late'].some((each) => found.includes(each));
  const ends =
    exit === undefined ? prompts.map(endText).join('; ') : exit === 'none' ? 'lives on' : exit.replace(/ s$/, '');
  return [
    isBad || found.includes('does not end') ? `**${ends}**` : ends,
    ...(found.includes('doubled') ? [`**${shown}×**`] : []),
    ...(found.includes('does not go on') ? [`**then ${brief(next ?? '')}**`] : []),
    ...(left.length === 0 ? [] : [`**${left.length} left**`]),
  ].join(', ');
}

const endText = ({ end, seconds, answers }: PromptEnd): string =>
  `${brief(end)}${end === 'none' ? '' : `${/\d$/.test(brief(end)) ? ',' : ''} ${seconds}`}${answers > 1 ? ` (${answers} answers)` : ''}`;

/** Without the message of an error. */
const brief = (end: string): string => end.replace(/^(error -?\d+(?: \([^)]*\))?).*$/, '$1').replaceAll('|', '/');

function notes(cells: readonly Cell[]): string {
  const lines = cells
    .filter(({ way }) => way === 'behind')
    .flatMap((cell) => {
      const found = troubles(cell);
      return found.length === 0 ? [] : [`- ${cell.agent}, ${cell.fault} (${cell.mode}): ${found.join(', ')}.`];
    });
  return lines.length === 0 ? '' : `## What is not as it should be behind unwedge\n\n${lines.join('\n')}\n`;
}
