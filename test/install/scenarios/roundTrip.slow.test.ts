import JSON5 from 'json5';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { describe, expect, it } from 'vitest';
import { acpx } from '../../../install/agents/acpClients.ts';
import { claude } from '../../../install/agents/agents.ts';
import { codex } from '../../../install/agents/codex.ts';
import { goose, opencode } from '../../../install/agents/moreClients.ts';
import type { ConfigFile } from '../../../install/configFile.ts';
import { type FilePlan, planUnwrap, planWrap } from '../../../install/planFile.ts';
import type { FileRecord } from '../../../install/record.ts';
import type { Wrapping } from '../../../install/wrapFile.ts';
import { fc } from '../../support/property.ts';

const script = '/opt/unwedge/dist/cli/main.js';
const scripts = new Set([script]);
const wrapping = (agent: Wrapping['agent']): Wrapping => ({
  agent,
  rules: undefined,
  launcher: { command: '/usr/bin/node', args: [script] },
  withRequestedHooks: true,
  isThere: () => true,
  isWindows: false,
  scripts,
  elsewhere: new Map(),
});

const runs = { numRuns: 150 };
const space = fc.constantFrom('', ' ', '\n', '\r\n\t', '  ');
const word = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom("it's", '--', 'a\\b', '"', 'é', '-y'),
);
const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,7}$/),
  fc.constantFrom('__proto__', 'constructor', 'a.b', 'ü'),
);
const command = word.filter((text) => text !== '');

/** A text of JSON, some of its characters as escapes. */
const jsonText = (value: string, escaped: boolean): string =>
  JSON.stringify(value).replace(/[a-z/]/g, (char) =>
    escaped ? `\\u00${char.charCodeAt(0).toString(16).padStart(2, '0')}` : char,
  );

interface Server {
  readonly key: string;
  readonly command: string;
  readonly args: readonly string[] | undefined;
  readonly extra: boolean;
  readonly escaped: boolean;
}
const server: fc.Arbitrary<Server> = fc.record({
  key: name,
  command,
  args: fc.option(fc.array(word, { maxLength: 3 }), { nil: undefined }),
  extra: fc.boolean(),
  escaped: fc.boolean(),
});
const serverList = fc.uniqueArray(server, { selector: ({ key }) => key, minLength: 1, maxLength: 4 });

/** A file of JSON; `between` gives what stands between two tokens, comments where they may be. */
function jsonFile(list: readonly Server[], hooks: readonly string[], between: () => string): string {
  const object = (fields: readonly (readonly [string, string])[]): string =>
    `{${fields.map(([key, value]) => `${between()}${JSON.stringify(key)}${between()}:${between()}${value}`).join(`${between()},`)}${between()}}`;
  const array = (items: readonly string[]): string =>
    `[${items.map((item) => between() + item).join(`${between()},`)}${between()}]`;
  const servers = list.map(({ key, command: own, args, extra, escaped }) => {
    const fields: (readonly [string, string])[] = [
      ...(extra ? [['env', object([['A', '"b"']])] as const] : []),
      ['command', jsonText(own, escaped)],
      ...(args === undefined ? [] : [['args', array(args.map((arg) => jsonText(arg, escaped)))] as const]),
      ...(extra ? [['timeout', '12345678901234567890'] as const] : []),
    ];
    return [key, object(fields)] as const;
  });
  const entries = hooks.map((text) =>
    object([
      ['type', '"command"'],
      ['command', jsonText(text, text.length % 2 === 0)],
    ]),
  );
  const groups = array([object([['hooks', array(entries)]])]);
  return `${between()}${object([
    ['mcpServers', object(servers)],
    ['hooks', object([['Stop', groups]])],
  ])}${between()}`;
}

function tomlFile(list: readonly Server[], eol: string, shapes: readonly number[]): string {
  const text = (value: string, escaped: boolean): string =>
    !escaped && /^[ -&(-~]*$/.test(value) ? `'${value}'` : jsonText(value, escaped).replaceAll('\u007f', '\\u007f');
  const lines = list.map(({ key, command: own, args, extra, escaped }, index) => {
    const id = JSON.stringify(key);
    const array =
      args === undefined
        ? undefined
        : `[${args.map((arg) => `${extra ? `${eol}  # why${eol}  ` : ' '}${text(arg, escaped)},`).join('')} ]`;
    if ((shapes[index] ?? 0) === 0) {
      const more = array === undefined ? '' : `, args=${array}`;
      return (
        `[mcp_servers]${eol}`.repeat(Number(index === 0)) +
        `${id} = { command = ${text(own, escaped)}${more} } # inline`
      );
    }
    return [
      `[mcp_servers.${id}] # table`,
      `  command=${text(own, escaped)} # c`,
      ...(array === undefined ? [] : [`args = ${array}`]),
    ].join(eol);
  });
  return `# top${eol}n = 1_000${eol}d = 1979-05-27T07:32:00Z${eol}${lines.join(eol)}${eol}`;
}

/** A file of YAML, as a person or a program may lay it out; `pick` chooses between two ways. */
function yamlFile(list: readonly Server[], eol: string, pick: () => boolean): string {
  const text = (value: string, inBrackets: boolean): string => {
    const isPlain = /^[a-z/][a-z0-9/@._-]*(?:[ ,][a-z]+)?$/.test(value) && !(inBrackets && value.includes(','));
    if (isPlain && !/^(?:true|false|null|no|yes|on|off|y|n)$/.test(value) && pick()) return value;
    return /^[ -&(-~]*$/.test(value) && pick() ? `'${value}'` : JSON.stringify(value);
  };
  const entries = list.map(({ key, command: own, args, extra }) => {
    const brackets = (items: readonly string[]): string =>
      `[${items.map((item) => ` ${text(item, true)}`).join(',')} ]`;
    if (pick()) {
      const more = args === undefined ? '' : `, args: ${brackets(args)}`;
      return `  ${JSON.stringify(key)}: { type: stdio, cmd: ${text(own, true)}${more} }  # in a line`;
    }
    const dashes = extra ? '    ' : '      ';
    const array =
      args === undefined || args.length === 0 || pick()
        ? args && `    args: ${brackets(args)} # flat`
        : [`    args:${extra ? ' # why' : ''}`, ...args.map((arg) => `${dashes}- ${text(arg, false)}`)].join(eol);
    const lines = [`    cmd: ${text(own, false)}   # c`, ...(array === undefined ? [] : [array]), '    type: stdio'];
    return [`  ${JSON.stringify(key)}:`, ...(extra ? lines.toReversed() : lines)].join(eol);
  });
  return `# top${eol}n: 1_000${eol}extensions:${eol}${entries.join(eol)}${eol}`;
}

const claudeFile: ConfigFile = {
  agent: 'claude',
  path: '/x',
  scope: 'user',
  format: 'json',
  servers: [['mcpServers']],
  hooks: 'grouped',
};
const codexFile: ConfigFile = {
  agent: 'codex',
  path: '/x',
  scope: 'user',
  format: 'toml',
  servers: [['mcp_servers']],
  hooks: 'grouped',
};

const acpxFile: ConfigFile = {
  ...claudeFile,
  agent: 'acpx',
  servers: [],
  hooks: undefined,
  agents: { path: ['agents'], areLines: true },
};
/** Words that acpx splits a line into, quoted as a shell has them or with blanks around. */
const line = fc.constantFrom('agent', "node 'a b' --acp", '  x\\ y "z" ', "'it'\\''s' acp", '/opt/a/b acp  --x=1');

const recordFor = (file: ConfigFile, plan: FilePlan): FileRecord => ({
  file,
  after: '',
  original: '',
  entries: plan.records,
});

/** Wraps, looks, and takes it back; all by the same rules whatever the format. */
function checkRoundTrip(
  text: string,
  file: ConfigFile,
  agent: Wrapping['agent'],
  parse: (text: string) => unknown,
): void {
  const before = Buffer.from(text);
  const plan = planWrap(before, file, wrapping(agent), undefined);
  if (plan.after === undefined) throw new Error(`Nothing is wrapped in ${text}`);
  const record = recordFor(file, plan);
  const again = planWrap(plan.after, file, wrapping(agent), record);
  expect(again.after).toBeUndefined();
  expect(planUnwrap(plan.after, file, record, scripts).original.toString()).toBe(text);
  const stateless = planUnwrap(plan.after, file, undefined, scripts).original.toString();
  expect(withoutOwn(parse(stateless))).toEqual(withoutOwn(parse(text)));
  expect(withoutOwn(parse(plan.after.toString()))).toEqual(withoutOwn(parse(text)));
}

/** A value without the fields that are ours to change. */
function withoutOwn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwn);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.entries(value)
    .filter(([key]) => !['command', 'cmd', 'args', 'argv'].includes(key))
    .map(([key, own]) => [key, withoutOwn(own)]);
}

describe('any file', () => {
  it('[E-4] of JSON is wrapped once, says the same beside our words, and comes back to the byte', () => {
    const check = () =>
      fc.assert(
        fc.property(
          serverList,
          fc.array(command, { maxLength: 3 }),
          fc.infiniteStream(space),
          (list, hooks, spaces) => {
            const text = jsonFile(list, hooks, () => spaces.next().value ?? '');
            checkRoundTrip(text, claudeFile, claude, JSON.parse);
          },
        ),
        runs,
      );
    expect(check).not.toThrow();
  });

  it('[E-4] of JSON with comments is wrapped once, says the same beside our words, and comes back to the byte', () => {
    const between = fc.oneof(space, fc.constantFrom('// "args": [\n', '/* } */', ' /* "command": "x" */ '));
    const check = () =>
      fc.assert(
        fc.property(serverList, fc.infiniteStream(between), (list, pieces) => {
          // A parser of JSON5 takes this name for the prototype.
          const known = list.filter(({ key }) => key !== '__proto__');
          fc.pre(known.length > 0);
          const text = jsonFile(known, [], () => pieces.next().value ?? '');
          checkRoundTrip(text, { ...claudeFile, format: 'json5' }, claude, JSON5.parse);
        }),
        runs,
      );
    expect(check).not.toThrow();
  });

  it('[E-4] of TOML is wrapped once, says the same beside our words, and comes back to the byte', () => {
    const shapes = fc.array(fc.constantFrom(0, 1), { minLength: 4, maxLength: 4 });
    const check = () =>
      fc.assert(
        fc.property(serverList, fc.constantFrom('\n', '\r\n'), shapes, (list, eol, given) => {
          // After the first table of its own no line belongs to the table of all servers any longer.
          const first = given.indexOf(1);
          const known = list.filter(({ key, command: own }) => key !== '__proto__' && !own.includes('\u007f'));
          fc.pre(known.length > 0);
          const text = tomlFile(
            known,
            eol,
            given.map((shape, index) => (first >= 0 && index >= first ? 1 : shape)),
          );
          checkRoundTrip(text, codexFile, codex, parseToml);
        }),
        runs,
      );
    expect(check).not.toThrow();
  });

  it('[E-10] of YAML is wrapped once, says the same beside our words, and comes back to the byte', () => {
    const file: ConfigFile = {
      agent: 'goose',
      path: '/x',
      scope: 'user',
      format: 'yaml',
      servers: [['extensions']],
      command: { key: 'cmd' },
    };
    const check = () =>
      fc.assert(
        fc.property(serverList, fc.constantFrom('\n', '\r\n'), fc.infiniteStream(fc.boolean()), (list, eol, picks) => {
          const text = yamlFile(list, eol, () => picks.next().value ?? true);
          checkRoundTrip(text, file, goose, parseYaml);
        }),
        runs,
      );
    expect(check).not.toThrow();
  });

  it('[E-10] of servers whose command is one list comes back to the byte', () => {
    const file: ConfigFile = {
      agent: 'opencode',
      path: '/x',
      scope: 'user',
      format: 'json5',
      servers: [['mcp']],
      command: { key: 'command', isList: true },
    };
    const entry = fc
      .tuple(command, fc.array(word, { maxLength: 3 }))
      .map(([first, rest]) => ({ type: 'local', command: [first, ...rest] }));
    const check = () =>
      fc.assert(
        fc.property(fc.dictionary(name, entry, { minKeys: 1, maxKeys: 4 }), fc.constantFrom(0, 2), (mcp, indent) => {
          fc.pre(!Object.hasOwn(mcp, '__proto__'));
          checkRoundTrip(JSON.stringify({ mcp, x: 1 }, null, indent), file, opencode, JSON.parse);
        }),
        runs,
      );
    expect(check).not.toThrow();
  });

  it('[A-6] [E-4] of agents as lists and lines is wrapped once, says the same beside our words, and comes back to the byte', () => {
    const entry = fc.oneof(
      fc.tuple(command, fc.array(word, { maxLength: 3 })).map(([first, rest]) => ({ argv: [first, ...rest] })),
      line.map((text) => ({ command: text, model: 'm' })),
    );
    const check = () =>
      fc.assert(
        fc.property(fc.dictionary(name, entry, { minKeys: 1, maxKeys: 4 }), fc.constantFrom(0, 2), (agents, indent) => {
          checkRoundTrip(JSON.stringify({ agents, ttl: 300 }, null, indent), acpxFile, acpx, JSON.parse);
        }),
        runs,
      );
    expect(check).not.toThrow();
  });
});
