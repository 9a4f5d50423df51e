import type { ConfigFile, HookShape } from './configFile.ts';
import type { Document } from './document.ts';
import { type EntryKind, nestedKey, type Program } from './entry.ts';
import { isText, type Node, scalarIn, type Table, tableAt, textsOf } from './tree.ts';

/** Something in a file that starts a program, or should. */
export type Found =
  | { readonly program: Program; readonly event?: string | undefined }
  /** An entry of a shape that is none of a program's. */
  | {
      readonly kind: EntryKind;
      readonly name: string;
      readonly why: string;
      /** Its address, when it is remote and not disabled. */
      readonly url?: string | undefined;
    };

/** Parts of a file that may start programs. */
export type Places = Pick<ConfigFile, 'servers' | 'command' | 'agents' | 'hooks'>;

/** The servers, agents and hooks of a file, in its order. */
export function findPrograms(document: Document, file: Places): readonly Found[] {
  const servers = file.servers.flatMap((path) =>
    tablesAt(document.root, path).flatMap(({ table, at }) =>
      entriesIn(table, at, { kind: 'server', verb: 'mcp', isShell: false, field: file.command }),
    ),
  );
  const agents = agentsOf(document, file.agents);
  const hooks = tableAt(document.root, ['hooks']);
  const entries = [...servers, ...agents];
  return hooks === undefined || file.hooks === undefined ? entries : [...entries, ...hooksIn(hooks, file.hooks)];
}

function agentsOf({ root }: Document, place: ConfigFile['agents']): readonly Found[] {
  const table = place === undefined ? undefined : tableAt(root, place.path);
  if (place === undefined || table === undefined) return [];
  return entriesIn(table, place.path, { kind: 'agent', verb: 'acp', isShell: place.areLines === true });
}

interface Place {
  readonly table: Table;
  readonly at: readonly string[];
}

function tablesAt(root: Table, path: readonly string[]): readonly Place[] {
  let places: readonly Place[] = [{ table: root, at: [] }];
  for (const step of path) {
    places = places.flatMap(({ table, at }) =>
      [...table.fields]
        .filter(([key]) => step === '*' || key === step)
        .flatMap(([key, { value }]) => (value.kind === 'table' ? [{ table: value, at: [...at, key] }] : [])),
    );
  }
  return places;
}

function entriesIn(entries: Table, at: readonly string[], what: Omit<Kind, 'name' | 'path'>): readonly Found[] {
  // The folder tells which one a server below a project is.
  const where = at.length > 2 ? ` (${at[1]})` : '';
  return [...entries.fields]
    .filter(([key]) => key !== '$include')
    .map(([key, { value }]): Found => {
      const name = `${key}${where}`;
      if (value.kind !== 'table') return { ...what, name, why: whyOf(value) ?? 'its entry is no object' };
      return entryOf(value, { ...what, name, path: [...at, key] });
    });
}

/** Tables whose entries had an object as their command once (Zed until 2025-06). */
const nestedIn: ReadonlySet<unknown> = new Set(['context_servers', 'agent_servers']);

/** An entry by its form: words in fields or in a list, an object of its own, or, of an agent without arguments, a whole line. */
function entryOf(table: Table, kind: Kind): Found {
  const { key, isList = false } = kind.field ?? { key: 'command' };
  const command = table.fields.get(key)?.value;
  if (command?.kind === 'table' && nestedIn.has(kind.path[0]))
    return programOf(command, { ...kind, path: [...kind.path, 'command'] }, nestedKey);
  const commandKey = isList ? key : 'argv';
  const words = isList || kind.isShell ? table.fields.get(commandKey)?.value : undefined;
  if (words === undefined)
    return programOf(table, { ...kind, isShell: kind.isShell && !table.fields.has('args') }, key);
  const [first, ...items] = textsOf(words) ?? [];
  if ((!isList && command !== undefined) || first === undefined || words.kind !== 'list' || words.range === undefined)
    return { ...kind, why: whyOf(words) ?? `its ${commandKey} is no list of texts alone` };
  const args = { range: words.range, items };
  return { program: { ...kind, isShell: false, table, commandKey, isList: true, command: first, args } };
}

/** Why a value could not be read. */
const whyOf = (node: Node | undefined): string | undefined => (node?.kind === 'scalar' ? node.why : undefined);

type Kind = Pick<Program, 'kind' | 'name' | 'path' | 'verb' | 'isShell'> & {
  readonly field?: ConfigFile['command'];
};

function programOf(table: Table, kind: Kind, key = 'command'): Found {
  const command = table.fields.get(key)?.value;
  if (command === undefined) return { ...kind, ...withoutCommand(table, kind) };
  if (!isText(command) || command.value === '') return { ...kind, why: whyOf(command) ?? 'its command is no text' };
  const list = table.fields.get('args')?.value;
  const items = textsOf(list);
  if (list !== undefined && (items === undefined || list.kind !== 'list' || list.range === undefined)) {
    return { ...kind, why: whyOf(list) ?? 'its args are no list of texts' };
  }
  const args =
    items === undefined || list?.kind !== 'list' || list.range === undefined ? undefined : { range: list.range, items };
  return { program: { ...kind, table, commandKey: key, command, args } };
}

function withoutCommand(
  table: Table,
  { kind }: Pick<Kind, 'kind'>,
): { readonly why: string; readonly url?: string | undefined } {
  const key = ['url', 'serverUrl', 'httpUrl', 'uri'].find((each) => table.fields.has(each));
  if (key === undefined && kind === 'agent') return { why: `it has no command: ${unnamed}` };
  const type = scalarIn(table, 'type');
  const isOther = typeof type === 'string' && type !== 'stdio' && type !== 'local';
  if (key === undefined) return { why: isOther ? `it is of the type ${JSON.stringify(type)}` : 'it has no command' };
  const isOff = scalarIn(table, 'enabled') === false || scalarIn(table, 'disabled') === true;
  const url = isOff ? undefined : scalarIn(table, key);
  const why = 'it is remote: `unwedge mcp --url` can stand in front of it';
  return { why, url: typeof url === 'string' ? url : undefined };
}

/** Reason why agents from a registry, and those that a client brings along, are left alone. */
const unnamed = 'its client knows how it starts; add it as one with a command of its own to put unwedge in front';

function hooksIn(hooks: Table, shape: HookShape): readonly Found[] {
  return [...hooks.fields].flatMap(([event, { value }]) =>
    listOf(value).flatMap((item, index) => {
      const path = ['hooks', event, index];
      if (shape === 'flat') return hookOf(item, event, '', path);
      if (item.kind !== 'table') return [];
      const matcher = scalarIn(item, 'matcher');
      const label = typeof matcher === 'string' && matcher !== '' ? ` ${matcher}` : '';
      return listOf(item.fields.get('hooks')?.value).flatMap((hook, at) =>
        hookOf(hook, event, label, [...path, 'hooks', at]),
      );
    }),
  );
}

function listOf(node: Node | undefined): readonly Node[] {
  return node?.kind === 'list' ? node.items : [];
}

/** The fields of a hook that hold a command for one system only. */
const systemKeys = ['linux', 'osx', 'windows', 'commandWindows'] as const;

function hookOf(node: Node, event: string, label: string, path: Kind['path']): readonly Found[] {
  if (node.kind !== 'table') return [{ kind: 'hook', name: `${event}${label}`, why: 'its entry is no object' }];
  const type = scalarIn(node, 'type');
  if (type !== undefined && type !== 'command') {
    return [
      {
        kind: 'hook',
        name: `${event}${label}`,
        why: `it is of the type ${JSON.stringify(type)}, which starts no program`,
      },
    ];
  }
  const isShell = !node.fields.has('args');
  const keys = ['command', ...systemKeys].filter((key) => key === 'command' || node.fields.has(key));
  return keys.map((key): Found => {
    const name = `${event}${label}`;
    const found = programOf(node, { kind: 'hook', name, path, verb: 'hook', isShell }, key);
    return 'program' in found ? { ...found, event } : found;
  });
}
