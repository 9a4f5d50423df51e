import type { KeyData, Keys } from '../../../src/policy/options/optionKeys.ts';
import { type Route, routes } from '../../../web/serve/routeTable.ts';

const all: readonly Route[] = Object.values(routes);

/** The tables of docs/serve.md, by the names of their markers. */
export function routeTables(): Readonly<Record<string, string>> {
  const rows = all.map((route) => [
    nameOf(route),
    `${route.summary}${route.isOpen === true ? ' Needs no token.' : ''}`,
    Object.entries(route.answers)
      .map(([status, what]) => `${status}: ${what}`)
      .join('<br>'),
  ]);
  const keys = all.flatMap((route) => [
    ...keyRows(route, 'query: ', route.query ?? {}),
    ...keyRows(route, '', route.body ?? {}),
  ]);
  return {
    routes: table(['route', 'what it does', 'what it answers'], rows),
    'keys of routes': table(['route', 'key', 'what'], keys),
  };
}

const nameOf = ({ method, path }: Route): string => `\`${method} ${path}\``;

function keyRows(route: Route, where: string, keys: Keys): readonly (readonly string[])[] {
  return Object.entries<KeyData>(keys).map(([key, { help = '' }]) => [nameOf(route), `${where}\`${key}\``, help]);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(titles), `|${'---|'.repeat(titles.length)}\n`, ...rows.map(line)].join('');
}
