import { readFile } from 'node:fs/promises';
import { parseJson } from '../../config/configFile.ts';
import { createLocator } from '../../config/jsonPositions.ts';
import type { ConfigProblem } from '../../config/problems.ts';
import { messageOf } from '../../policy/thrown.ts';
import { misspeltKeys } from '../mcp/serverKeys.ts';
import { fieldsIn, judgeServers } from '../mcp/serversFile.ts';
import { agentsOf, hooksOf, servedKeys } from '../serve/whatIsServed.ts';

/** What a file says of them. */
export interface ServedParts {
  readonly servers: number;
  readonly problems: readonly ConfigProblem[];
  /** Variables that have to be set where the file is used. */
  readonly variables: readonly string[];
  /** What is likely misspelt, a line each. */
  readonly hints: readonly string[];
}

const nothing: ServedParts = { servers: 0, problems: [], variables: [], hints: [] };

/** Judges the file alone: its variables may be there where it is used. Never rejects: a file that cannot be read is told by who reads the rest. */
export async function judgeServed(file: string): Promise<ServedParts> {
  if (!file.endsWith('.json')) return nothing;
  let text: string;
  let fields: ReturnType<typeof fieldsIn>;
  try {
    text = await readFile(file, 'utf8');
    fields = fieldsIn(parseJson(text));
  } catch {
    return nothing;
  }
  if (fields === undefined || !servedKeys.some((key) => fields[key] !== undefined)) return nothing;
  const { mcpServers, agents, hooks } = fields;
  const locate = createLocator(text);
  const wrong = (path: readonly string[], says: string): ConfigProblem => {
    const at = locate(path);
    const place = at === undefined ? file : `${file}:${at.line}:${at.column}`;
    const key = path.join('.');
    const expected = says.replace(/^expected /i, '');
    return {
      path: key,
      value: undefined,
      expected,
      source: { from: 'file', file },
      at,
      message: `${place}: ${key}: ${says}`,
    };
  };
  const table = fieldsIn(mcpServers);
  const judged = table === undefined ? undefined : judgeServers(table, undefined);
  const problems = [
    ...(mcpServers !== undefined && table === undefined ? [wrong(['mcpServers'], 'expected an object')] : []),
    ...(judged?.problems ?? []).map(({ name, says }) =>
      wrong(['mcpServers', ...(name === undefined ? [] : [name])], says),
    ),
    ...complaint(() => agentsOf(file, agents)).map((says) => wrong(['agents'], says)),
    ...complaint(() => hooksOf(file, hooks)).map((says) => wrong(['hooks'], says)),
  ];
  const hints = [...(judged?.notes ?? []), ...misspeltKeys(mcpServers)].map((hint) => `${file}: ${hint}`);
  return { servers: judged?.servers.length ?? 0, problems, variables: judged?.variables ?? [], hints };
}

function complaint(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
