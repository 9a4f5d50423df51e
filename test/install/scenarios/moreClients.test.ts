import { symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentName } from '../../../install/configFile.ts';
import { said, startInstall } from '../startInstall.ts';

/** As goose 1.52 writes it, with comments of a person in it. */
const gooseConfig = `# mine
GOOSE_TELEMETRY_ENABLED: false   # quiet
extensions:
  # the files
  files:
    enabled: true
    type: stdio
    name: files
    description: every
    cmd: npx     # here
    args:
    - -y   # yes
    - '@acme/files'
    envs:
      WHERE: k1
    env_keys: []
    timeout: 300
    bundled: null
  inline: { name: inline, enabled: true, type: stdio, cmd: npx, args: [ -y, "x" ] }
  deeper:
    type: stdio
    args:
        # first
        - one

        - "two"
    cmd: "no\\u0064e"
  none:
    cmd: server   # alone
    type: stdio
    enabled: true
  empty:
    cmd: a, b
    args: []
    type: stdio
  developer: {type: builtin, name: developer, enabled: true}
  todo:
    type: platform
    name: todo
  far:
    type: streamable_http
    uri: https://x.example/mcp
  off:
    enabled: false
    type: stdio
    cmd: x
    args: []
  shared:
    type: stdio
    cmd: &c x
    args: []
  alias:
    type: stdio
    cmd: *c
    args: []
  folded:
    type: stdio
    cmd: >-
      one
    args: []
slash_commands: []
`;

const gooseSaid = [
  'wrapped files',
  'wrapped inline',
  'wrapped deeper',
  'wrapped none',
  'wrapped empty',
  'left developer: it is of the type "builtin"',
  'left todo: it is of the type "platform"',
  'left far: it is remote: `unwedge mcp --url` can stand in front of it',
  'left off: it is disabled',
  'left shared: line 50 has an anchor, an alias or a tag, by which a change would reach further',
  'left alias: line 54 has an anchor, an alias or a tag, by which a change would reach further',
  'left folded: its command is written in several lines',
];

describe('install goose', () => {
  const path = 'home/.config/goose/config.yaml';

  it.each(['\n', '\r\n'])('[E-10] edits YAML in its place and takes it back to the byte, line ends %j', async (eol) => {
    const machine = startInstall();
    const original = gooseConfig.replaceAll('\n', eol);
    machine.write(path, original);
    const report = await machine.only({ agents: ['goose'] });
    expect(said(report)).toEqual(gooseSaid);
    const words = (name: string, more: readonly string[] = []) =>
      [machine.script, 'mcp', '--name', name, ...more, '--'].map((word) => JSON.stringify(word));
    const lines = (indent: string, tokens: readonly string[]) =>
      tokens.map((token) => `- ${token}\n${indent}`).join('');
    const wrapped = gooseConfig
      .replace('cmd: npx     # here', 'cmd: "/usr/bin/node"     # here')
      .replace(
        '    - -y   # yes',
        `    ${lines('    ', [...words('files', ['--call-timeout', '295s']), 'npx'])}- -y   # yes`,
      )
      .replace('cmd: npx, args: [ -y', `cmd: "/usr/bin/node", args: [${words('inline').join(', ')}, npx,  -y`)
      .replace('cmd: "no\\u0064e"', 'cmd: "/usr/bin/node"')
      .replace('        - one', `        ${lines('        ', [...words('deeper'), '"no\\u0064e"'])}- one`)
      .replace(
        'cmd: server   # alone',
        `args: [${words('none').join(', ')}, server]\n    cmd: "/usr/bin/node"   # alone`,
      )
      .replace('cmd: a, b\n    args: []', `cmd: "/usr/bin/node"\n    args: [${words('empty').join(', ')}, "a, b"]`);
    expect(machine.read(path)).toBe(wrapped.replaceAll('\n', eol));
    expect(report.diff).toContain('+    - "--call-timeout"');
    expect(report.diff).not.toMatch(/\bk1\b/);

    expect((await machine.only({ agents: ['goose'] })).status).toBe('same');
    const [undone] = (await machine.undo({ agents: ['goose'] })).files;
    expect([undone?.isExact, machine.read(path)]).toEqual([true, original]);
  });

  it('[E-10] keeps what is edited since, and finds its own words without a record', async () => {
    const machine = startInstall();
    machine.write(path, gooseConfig);
    await machine.run({ agents: ['goose'] });
    machine.write(path, machine.read(path).replace('# mine', '# ours').replace('- -y   # yes', '- -x'));
    await machine.undo({ agents: ['goose'] });
    const edited = gooseConfig.replace('# mine', '# ours').replace('- -y   # yes', '- -x');
    expect(machine.read(path)).toBe(edited);

    await machine.run({ agents: ['goose'] });
    machine.write('state/install.json', '');
    await machine.undo({ agents: ['goose'] });
    // What had no list keeps an empty one, and a word that was quoted on the way in stays so.
    expect(machine.read(path)).toBe(
      edited.replace('cmd: server', 'args: []\n    cmd: server').replace('cmd: a, b', 'cmd: "a, b"'),
    );
  });

  it('[E-10] takes its words out of a file that goose has written anew', async () => {
    const machine = startInstall();
    const before =
      'extensions:\n  a:\n    type: stdio\n    cmd: npx\n    args: []\n  b:\n    type: stdio\n    cmd: npx\n';
    machine.write(path, before);
    await machine.run({ agents: ['goose'] });
    const list = (indent: string, name: string) =>
      [machine.script, 'mcp', '--name', name, '--', 'npx'].map((word) => `${indent}- ${word}\n`).join('');
    const anew = (a: string, b: string, cmd: string) =>
      `extensions:\n  a:\n    args:${a}    cmd: ${cmd}\n    type: stdio\n  b:\n${b}    cmd: ${cmd}\n    type: stdio\n`;
    machine.write(path, anew(`\n${list('    ', 'a')}`, `    args:\n${list('      ', 'b')}`, '/usr/bin/node'));
    const { files } = await machine.undo({ agents: ['goose'] });
    expect(files.map(({ status, why }) => [status, why])).toEqual([['changed', undefined]]);
    expect(machine.read(path)).toBe(anew(' []\n', '', 'npx'));
  });

  it('[E-10] repairs the path of an unwedge that moved, in each form', async () => {
    const machine = startInstall();
    machine.write(path, gooseConfig);
    const gone = { command: '/usr/bin/node', args: [machine.at('gone/unwedge/dist/cli/main.js')] };
    await machine.run({ agents: ['goose'] }, { launcher: gone });
    machine.write(path, machine.read(path).replace(`"/usr/bin/node"   # alone`, machine.at('gone/bin/unwedge')));
    const report = await machine.only({ agents: ['goose'] });
    expect(said(report).filter((each) => each.startsWith('repaired')).length).toBeGreaterThanOrEqual(4);
    machine.write(
      path,
      gooseConfig.replaceAll(
        /cmd: npx.*\n {4}args:\n/g,
        `cmd: ${machine.at('gone/unwedge')}\n    args:\n    - mcp\n    - --\n    - npx\n`,
      ),
    );
    expect(said(await machine.only({ agents: ['goose'] }))[0]).toBe('repaired files');
    expect(machine.read(path)).toContain(
      `cmd: "/usr/bin/node"\n    args:\n    - "${machine.script}"\n    - mcp\n    - --\n    - npx\n    - -y`,
    );
  });

  it.each([
    ['linux', 'xdg/goose', { XDG_CONFIG_HOME: 'xdg' }],
    ['linux', 'root/config', { GOOSE_PATH_ROOT: 'root', XDG_CONFIG_HOME: 'xdg' }],
    ['darwin', 'home/.config/goose', {}],
    ['win32', 'roaming/Block/goose/config', { APPDATA: 'roaming' }],
  ] as const)('[E-10] finds the file on %s in %s', async (platform, folder, env) => {
    const text = 'extensions: {a: {type: stdio, cmd: x, args: []}}\n';
    const path = `${folder}/config.yaml`;
    expect(await changedAt('goose', platform, path, env, text)).toEqual([[path, 'changed', 'wrapped a']]);
  });
});

/** Files of a system that were changed, and how. */
async function changedAt(
  agent: AgentName,
  platform: NodeJS.Platform,
  path: string,
  env: Readonly<Record<string, string>>,
  text: string,
): Promise<readonly unknown[]> {
  const machine = startInstall();
  machine.write(path, text);
  const absolute = Object.fromEntries(Object.entries(env).map(([key, each]) => [key, machine.at(each)]));
  const { files } = await machine.run({ agents: [agent] }, { platform, env: absolute });
  return files.map((file) => [file.path.slice(machine.root.length + 1), file.status, ...said(file)]);
}

describe('install opencode', () => {
  const text = `{
  "$schema": "https://opencode.ai/config.json", // mine
  "mcp": {
    "a": {
      "type": "local",
      "command": [ "npx", "-y", "@acme/a", ],
      "environment": { "WHERE": "k1" },
      "timeout": 9000,
    },
    "one": { "type": "local", "command": ["x"] },
    "far": { "type": "remote", "url": "https://x.example" },
    "off": { "type": "local", "command": ["x"], "enabled": false },
    "text": { "type": "local", "command": "x" },
    "only": { "enabled": true },
  },
}
`;

  it('[E-10] puts its words at the head of the one list, and takes them back to the byte', async () => {
    const machine = startInstall();
    machine.write('home/.config/opencode/opencode.jsonc', text);
    const report = await machine.only({ agents: ['opencode'] });
    expect(said(report)).toEqual([
      'wrapped a',
      'wrapped one',
      'left far: it is remote: `unwedge mcp --url` can stand in front of it',
      'left off: it is disabled',
      'left text: its command is no list of texts alone',
      'left only: it has no command',
    ]);
    expect(machine.read('home/.config/opencode/opencode.jsonc')).toBe(
      text
        .replace('[ "npx"', `[ "/usr/bin/node", ${machine.front('a', '"--call-timeout", "8100ms", ')}, "npx"`)
        .replace('["x"] },\n    "far"', `["/usr/bin/node", ${machine.front('one')}, "x"] },\n    "far"`),
    );
    expect(report.diff).not.toMatch(/\bk1\b/);
    expect((await machine.only({ agents: ['opencode'] })).status).toBe('same');
    machine.write('state/install.json', '');
    await machine.undo({ agents: ['opencode'] });
    expect(machine.read('home/.config/opencode/opencode.jsonc')).toBe(text);
  });

  const one = '{ "mcp": { "a": { "type": "local", "command": ["x"] } } }';
  it.each([
    ['home/.config/opencode/config.json', {}],
    ['home/.config/opencode/opencode.json', {}],
    ['home/.opencode/opencode.json', {}],
    ['own.json', { OPENCODE_CONFIG: 'own.json' }],
    ['own/opencode.jsonc', { OPENCODE_CONFIG_DIR: 'own' }],
    ['xdg/opencode/opencode.jsonc', { XDG_CONFIG_HOME: 'xdg' }],
  ])('[E-10] finds %s', async (path, env) => {
    expect(await changedAt('opencode', 'linux', path, env, one)).toEqual([[path, 'changed', 'wrapped a']]);
  });

  it.each(['opencode.json', 'opencode.jsonc', '.opencode/opencode.json'])(
    '[E-10] changes %s of a project on request only',
    async (name) => {
      const machine = startInstall();
      machine.write(`work/${name}`, one);
      expect((await machine.only({ agents: ['opencode'] })).status).toBe('left');
      await machine.run({ agents: ['opencode'], withProject: true });
      expect(machine.read(`work/${name}`)).toBe(one.replace('["x"', '["unwedge", "mcp", "--name", "a", "--", "x"'));
    },
  );
});

describe('install of clients with a table mcpServers', () => {
  /** As each program writes it itself (`gemini mcp add`, `copilot mcp add`), or its makers document it. */
  const own = {
    gemini: `{
  // mine
  "mcpServers": {
    "a": {
      "command": "node",
      "args": [
        "x.js"
      ],
      "env": {
        "K": "v"
      },
      "timeout": 5000
    },
    "net": { "httpUrl": "https://x.example" },
    "both": { "url": "https://x.example", "command": "x" }
  }
}`,
    copilot: `{
  "mcpServers": {
    "a": {
      "tools": [
        "*"
      ],
      "type": "local",
      "command": "node",
      "args": [
        "x.js"
      ],
      "env": {
        "K": "v"
      },
      "timeout": 5000
    },
    "net": { "type": "http", "url": "https://x.example" }, // far
    "both": { "type": "http", "command": "x" },
  }
}
`,
    'claude-desktop': `{
  "mcpServers": {
    "a": {
      "command": "node",
      "args": [
        "x.js"
      ]
    }
  }
}`,
  } as const;
  const remote = 'left net: it is remote: `unwedge mcp --url` can stand in front of it';
  const reports = {
    gemini: ['wrapped a', remote, 'left both: Gemini CLI takes its address before its command'],
    copilot: ['wrapped a', remote, 'left both: it is of the type "http"'],
    'claude-desktop': ['wrapped a'],
  } as const;

  it.each([
    ['gemini', 'home/.gemini/settings.json', 'linux', {}],
    ['copilot', 'home/.copilot/mcp-config.json', 'linux', {}],
    ['copilot', 'other/mcp-config.json', 'linux', { COPILOT_HOME: 'other' }],
    ['claude-desktop', 'home/.config/Claude/claude_desktop_config.json', 'linux', {}],
    ['claude-desktop', 'home/Library/Application Support/Claude/claude_desktop_config.json', 'darwin', {}],
    ['claude-desktop', 'roaming/Claude/claude_desktop_config.json', 'win32', { APPDATA: 'roaming' }],
    [
      'claude-desktop',
      'local/Packages/Claude_abc/LocalCache/Roaming/Claude/claude_desktop_config.json',
      'win32',
      { LOCALAPPDATA: 'local' },
    ],
  ] as const)('[E-10] of %s changes %s on %s, and takes it back to the byte', async (agent, path, platform, env) => {
    const machine = startInstall();
    const text = own[agent];
    machine.write(path, text);
    const world = {
      platform,
      env: Object.fromEntries(Object.entries(env).map(([key, each]) => [key, machine.at(each)])),
    };
    const { files } = await machine.run({ agents: [agent] }, world);
    expect(files.map(said)).toEqual([reports[agent]]);
    const limit = agent === 'claude-desktop' ? '' : '"--call-timeout", "4500ms", ';
    expect(machine.read(path)).toBe(
      text
        .replace('"command": "node"', '"command": "/usr/bin/node"')
        .replace('"args": [', `"args": [${machine.front('a', limit)}, "node", `),
    );
    await machine.run({ agents: [agent], undo: true }, world);
    expect(machine.read(path)).toBe(text);
  });

  it.each([
    ['gemini', '.gemini/settings.json'],
    ['copilot', '.github/mcp.json'],
  ] as const)('[E-10] of %s changes %s of a project on request only', async (agent, name) => {
    const machine = startInstall();
    const text = '{ "mcpServers": { "a": { "command": "x" } } }';
    machine.write(`work/${name}`, text);
    expect((await machine.only({ agents: [agent] })).status).toBe('left');
    await machine.run({ agents: [agent], withProject: true });
    expect(machine.read(`work/${name}`)).toContain('"unwedge", "args": ["mcp", "--name", "a", "--", "x"]');
    await machine.undo({ agents: [agent] });
    expect(machine.read(`work/${name}`)).toBe(text);
  });
});

describe('install of hooks of Gemini CLI', () => {
  it('[E-10] gives them the time of their entry in ms, and takes them back to the byte', async () => {
    const machine = startInstall();
    const text = `{ "hooksConfig": { "disabled": ["off", "b.sh"] }, // mine
  "hooks": { "BeforeTool": [{ "matcher": "x", "hooks": [
    { "type": "command", "command": "a.sh | tee 'l'", "timeout": 5000 },
    { "type": "command", "command": "c.sh" },
    { "type": "command", "command": "b.sh" },
    { "type": "command", "command": "d.sh", "name": "off" },
    { "type": "command", "command": "$GEMINI_PROJECT_DIR/e.sh" }
  ] }] } }`;
    machine.write('home/.gemini/settings.json', text);
    expect(said(await machine.only({ agents: ['gemini'] }))).toEqual([
      'wrapped BeforeTool x: a.sh',
      'wrapped BeforeTool x: c.sh',
      'left BeforeTool x: b.sh: it is disabled',
      'left BeforeTool x: d.sh: it is disabled',
      'left BeforeTool x: e.sh: Gemini CLI fills in a folder there by its text',
    ]);
    const words = (limit: string) =>
      `/usr/bin/node ${machine.script} hook --keep-background --host-timeout ${limit} -- bash -c `;
    const changed = machine.read('home/.gemini/settings.json');
    expect(changed).toContain(JSON.stringify(`${words('5s')}'a.sh | tee '\\''l'\\'''`));
    expect(changed).toContain(JSON.stringify(`${words('60s')}'c.sh'`));
    await machine.undo({ agents: ['gemini'] });
    expect(machine.read('home/.gemini/settings.json')).toBe(text);
  });
});

describe('a file that its program could not read, or that must not be changed', () => {
  const yaml = (body: string) => `extensions:\n  a:\n    type: stdio\n    cmd: x\n${body}`;
  const json = (body: string) => `{ "mcpServers": { "a": { "command": "x" } }${body} }`;

  it.each([
    ['goose', yaml('    args: [1\n'), 'line 6 is no YAML'],
    ['goose', yaml('\targs: []\n'), 'line 5 is indented by a tab, which YAML does not allow'],
    ['goose', yaml('    cmd: y\n'), 'line 5 has a key that is there twice'],
    ['goose', yaml('---\nb: 1\n'), 'line 5 begins a second document'],
    ['goose', yaml('b: *nowhere\n'), 'line 5 has an alias of an anchor that is not there'],
    ['goose', '- a\n', 'it is no object'],
    ['goose', '# nothing\n', undefined],
    ['gemini', json(', "x": 1,'), 'it has commas or quotes that its program does not read'],
    ['gemini', json(",\n'x': 1"), 'it has commas or quotes that its program does not read'],
    ['gemini', json(',\n "b": ]'), 'line 2 is no JSON'],
    ['copilot', json(',\n "mcpServers": {}'), 'line 2: the key "mcpServers" is there twice'],
    ['claude-desktop', json(' // mine\n'), 'it has comments or commas that its program does not read'],
    ['opencode', '{ "mcp": \n[', 'line 2 is no JSON'],
  ] as const)('[E-10] of %s is named with its line and stays as it is: %j', async (agent, text, why) => {
    const machine = startInstall();
    const paths: Partial<Record<AgentName, string>> = {
      goose: 'home/.config/goose/config.yaml',
      gemini: 'home/.gemini/settings.json',
      copilot: 'home/.copilot/mcp-config.json',
      'claude-desktop': 'home/.config/Claude/claude_desktop_config.json',
      opencode: 'home/.config/opencode/opencode.json',
    };
    const path = paths[agent] ?? '';
    machine.write(path, text);
    const { files } = await machine.run({ agents: [agent] });
    expect(files.map((file) => [file.path, file.status, file.why])).toEqual(
      why === undefined ? [] : [[machine.at(path), 'failed', why]],
    );
    expect(machine.read(path)).toBe(text);
  });

  it('[E-10] keeps a byte order mark, line ends and tabs, follows a link, and leaves a file that is read-only', async () => {
    const machine = startInstall();
    const text = '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "x" /* mine */ }\r\n\t}\r\n}\r\n';
    machine.write('dotfiles/settings.json', text);
    machine.write('home/.gemini/keep', '');
    symlinkSync(machine.at('dotfiles/settings.json'), machine.at('home/.gemini/settings.json'));
    expect((await machine.only({ agents: ['gemini'] })).status).toBe('changed');
    expect(machine.read('dotfiles/settings.json')).toContain('"args": ["');
    await machine.undo({ agents: ['gemini'] });
    expect(machine.read('dotfiles/settings.json')).toBe(text);

    const marked = `\uFEFF${gooseConfig}`;
    machine.write('home/.config/goose/config.yaml', marked);
    await machine.run({ agents: ['goose'] });
    expect(machine.read('home/.config/goose/config.yaml')).toMatch(/^\uFEFF# mine\n[^]*"--name"/);
    await machine.undo({ agents: ['goose'] });
    expect(machine.read('home/.config/goose/config.yaml')).toBe(marked);

    machine.write('home/.copilot/mcp-config.json', json(''), 0o400);
    const report = await machine.only({ agents: ['copilot'] });
    expect([report.status, report.why]).toEqual(['failed', 'it is read-only']);
  });
});

describe('what was never run on this system', () => {
  const config = (agent: 'goose' | 'cursor'): readonly [string, string] =>
    agent === 'goose'
      ? ['home/.config/goose/config.yaml', 'extensions: {a: {type: stdio, cmd: x, args: []}}\n']
      : ['home/.cursor/mcp.json', '{ "mcpServers": { "a": { "command": "x" } } }'];

  it.each([
    ['linux', ['goose'], []],
    [
      'linux',
      ['goose', 'cursor'],
      ['Never run behind unwedge on Linux: Cursor. Its files are as its makers document them.'],
    ],
    [
      'darwin',
      ['goose', 'cursor'],
      ['Never run behind unwedge on macOS: Cursor, goose. Their files are as their makers document them.'],
    ],
  ] as const)('[E-10] is one line on %s for %j', async (platform, agents, expected) => {
    const machine = startInstall({ platform });
    for (const agent of agents) machine.write(...config(agent));
    const { notes } = await machine.run({ agents: ['cursor', 'goose', 'gemini'], dryRun: true });
    expect(notes).toEqual(expected);
    await machine.run({ agents: [...agents] });
    expect((await machine.undo({ agents: [...agents] })).notes).toEqual([]);
  });
});
