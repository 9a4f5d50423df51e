import { written } from '../dialect.ts';
import { declared, type Table, type TableName, tables } from './declared.ts';

const fileNames = new Map<string, string>([
  ['lease', 'unwedge_sessions'],
  ...declared.map(([name, { file }]) => [name, file] as const),
]);

/** A text for a file, with the names of tables that are there. @param found - told of each. */
export function withFileNames(text: string, found?: (table: string) => void): string {
  return text.replaceAll(/\buw\.(\w+)/g, (_, name: string) => {
    const table = fileNames.get(name) ?? name;
    found?.(table);
    return table;
  });
}

/** The statements that make one on a server, or in a file where it is not there. */
function making(engine: 'server' | 'file', name: TableName): string {
  const { columns, key, byKey = false, indexes = '' }: Table = tables[name];
  const inFile = byKey ? 'STRICT, WITHOUT ROWID' : 'STRICT';
  const made = `CREATE TABLE uw.${name} (${columns}\n  PRIMARY KEY (${key})\n){| ${inFile}};\n${indexes}`;
  return written(made, engine, () => '');
}

export const tablesOnServer = declared.map(([name, { since }]) => ({
  since: since?.server ?? 1,
  made: making('server', name),
}));

// Types alone: a column may have the name of one.
export const tablesInFile = withFileNames(declared.map(([name]) => making('file', name)).join('\n'))
  .replaceAll(/^CREATE (?:UNIQUE )?(?:TABLE|INDEX)/gm, '$& IF NOT EXISTS')
  .replaceAll(
    /^( +[a-z_]+ )(bigint|integer|text)\b/gm,
    (_, column: string, type: string) => column + (type === 'text' ? 'TEXT' : 'INTEGER'),
  );

/** Columns that rows are written with, on either engine: `name type` of each, parted by commas. A server gives its own numbers itself. */
export function columnsInFile(name: TableName): string {
  const inFile = written(tables[name].columns.replaceAll(/.* GENERATED .*/g, ''), 'file', () => '');
  return [...inFile.matchAll(/^ +([a-z_]+ [a-z]+)/gm)].map(([, column]) => column).join(', ');
}
