import { readFile } from 'node:fs/promises';
import {
  type ConfigOptions,
  type ConfigProblem,
  type Teller,
  createLocator,
  fileProblem,
  parseJson,
  toldProblem,
} from '../../src/config/face.ts';
import type { Served } from '../../web/serve/serveTypes.ts';
import { KnownSecrets, createTextRedactor } from '../../src/redaction/face.ts';
import { fieldsIn, type FileServer, judgeServers, misspeltKeys } from '../mcp/serversFile.ts';
import { hasMembers, servedKeys, serversOf } from '../serve/whatIsServed.ts';

/** Parts of a file about them. */
interface ServedParts {
  readonly servers: number;
  /** It has agents or hooks and no `mcpServers`: `unwedge serve` takes it, and `unwedge mcp` does not. */
  readonly isForServeAlone: boolean;
  readonly problems: readonly ConfigProblem[];
  /** Variables that have to be set where the file is used. */
  readonly variables: readonly string[];
  /** Servers that cannot be used, while others or an agent can: they are left out at the start. */
  readonly leftOut: readonly ConfigProblem[];
  /** Hints at likely misspelt words, a line each. */
  readonly hints: readonly string[];
  /** Finds what does not go together of parts that are right each on its own, and of the configuration beside them. */
  togetherWith(options: ConfigOptions): Promise<readonly ConfigProblem[]>;
}

const nothing: ServedParts = {
  servers: 0,
  isForServeAlone: false,
  problems: [],
  leftOut: [],
  variables: [],
  hints: [],
  togetherWith: async () => [],
};

/**
 * Judges the file alone: its variables may be there where it is used. Never rejects: a file that cannot be read is told by who reads the rest.
 * @param surroundings - the environment whose secrets are never told.
 */
export async function judgeServed(
  file: string,
  surroundings: Readonly<Record<string, string | undefined>>,
): Promise<ServedParts> {
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
  const redactor = createTextRedactor(new KnownSecrets(surroundings));
  const hide = (said: string): string => redactor.text(said);
  const wrong = (path: readonly string[], told: string): ConfigProblem => {
    const says = hide(told);
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
  const teller: Teller = { source: { from: 'file', file }, name: file, hide, locate };
  const table = fieldsIn(mcpServers);
  const judged = table === undefined ? undefined : judgeServers(table, undefined);
  const flaws = (judged?.problems ?? []).map(({ name, says }) =>
    wrong(['mcpServers', ...(name === undefined ? [] : [name])], says),
  );
  // By the rule of the start, which goes on with what is left.
  const goesOn = (judged?.servers.length ?? 0) > 0 || hasMembers(agents);
  const problems = [
    ...(mcpServers !== undefined && table === undefined ? [wrong(['mcpServers'], 'expected an object')] : []),
    ...(goesOn ? [] : flaws),
    ...(await partProblems({ agents, hooks })).map((each) => toldProblem(each, teller)),
  ];
  const hints = [...(judged?.notes ?? []), ...misspeltKeys(mcpServers)].map((hint) => `${file}: ${hide(hint)}`);
  const served = {
    servers: serversOf((judged?.servers ?? []).map(withAddress)),
    agents: (agents ?? {}) as Served['agents'],
    hooks: (hooks ?? {}) as Served['hooks'],
  };
  return {
    servers: judged?.servers.length ?? 0,
    isForServeAlone: mcpServers === undefined,
    problems,
    leftOut: goesOn ? flaws : [],
    variables: judged?.variables ?? [],
    hints,
    async togetherWith(options) {
      const { undeclarable } = await import('../../web/serve/declareServed.ts');
      const says = undeclarable(options, served);
      return says === undefined ? [] : [fileProblem(says, teller)];
    },
  };
}

/** An address of which a variable is a part is not known here. */
function withAddress(server: FileServer): FileServer {
  const { remote } = server;
  return remote?.url.includes('${') === true ? { ...server, remote: { ...remote, url: 'http://localhost' } } : server;
}

async function partProblems(parts: { readonly agents: unknown; readonly hooks: unknown }) {
  if (parts.agents === undefined && parts.hooks === undefined) return [];
  return (await import('../../web/serve/judgeServed.ts')).judgeServed(parts);
}
