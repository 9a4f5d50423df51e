// The budget of lines: scripts/budget.json holds the lines that each room may have, and why its row was raised last. A room that has become smaller
// has its row lowered by `node scripts/budget.mjs`; a larger one is a decision: its row is raised by hand, in the same commit, with the reason.
// test/package/budget.test.ts holds both to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { roomOf, sourceFiles } from './rooms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const path = join(root, 'scripts/budget.json');

/** Lines that a row may be above its room: each commit that takes some away would have to change it. */
export const slack = 40;

/** The rows, by room. */
export function budget() {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Lines of each room as it stands. */
export function linesOfRooms() {
  const lines = {};
  for (const file of sourceFiles()) {
    const room = roomOf(file)?.room ?? file;
    const text = readFileSync(join(root, file), 'utf8');
    lines[room] = (lines[room] ?? 0) + text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  }
  return lines;
}

/** Rooms whose lines and row do not fit, each as a sentence. */
export function misfits(rows = budget(), lines = linesOfRooms()) {
  const rooms = [...new Set([...Object.keys(rows), ...Object.keys(lines)])].sort();
  return rooms.flatMap((room) => {
    const row = rows[room];
    const now = lines[room] ?? 0;
    if (row === undefined) return [`${room} has ${now} lines and no row in scripts/budget.json`];
    if (typeof row.why !== 'string' || row.why.trim() === '') return [`the row of ${room} says no \`why\``];
    if (now > row.lines)
      return [`${room} has ${now} lines, its row ${row.lines}: take some away, or raise the row and say why`];
    if (now < row.lines - slack)
      return [`${room} has ${now} lines, its row ${row.lines}: run \`node scripts/budget.mjs\``];
    return [];
  });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const rows = budget();
  const lines = linesOfRooms();
  for (const [room, row] of Object.entries(rows)) row.lines = Math.min(row.lines, lines[room] ?? 0);
  const left = Object.entries(rows).filter(([, row]) => row.lines > 0);
  const texts = left.map(
    ([room, { lines: most, why }]) => `  "${room}": { "lines": ${most}, "why": ${JSON.stringify(why)} }`,
  );
  writeFileSync(path, `{\n${texts.join(',\n')}\n}\n`);
  for (const line of misfits(budget(), lines)) console.log(line);
}
