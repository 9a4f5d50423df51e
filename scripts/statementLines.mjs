import { parseAst } from 'rolldown/parseAst';

/**
 * A minified module with each statement on a line of its own: Node prints the whole line that an uncaught error was thrown in.
 * @param {string} code - in ASCII.
 */
export function statementLines(code) {
  const ends = new Set();
  visit(parseAst(code), (node) => {
    const statements = [node.body, node.consequent].find((part) => Array.isArray(part)) ?? [];
    for (const { end } of statements) ends.add(end);
  });
  const places = [0, ...[...ends].sort((a, b) => a - b), code.length];
  return places
    .map((start, index) => code.slice(start, places[index + 1]))
    .join('\n')
    .trim();
}

function visit(node, see) {
  see(node);
  for (const part of Object.values(node).flat()) {
    if (typeof part === 'object' && part !== null && 'end' in part) visit(part, see);
  }
}
