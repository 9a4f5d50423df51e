import { describe, expect, it } from 'vitest';
import { said, servers, startInstall } from '../startInstall.ts';

describe('install cursor', () => {
  it('[E-4] wraps servers, and hooks that are plain words, with comments kept', async () => {
    const machine = startInstall();
    const mcp = `// mine
{ "mcpServers": { "a": { "command": "\${env:HOME}/x", /* why */ "args": ["y", // last
  ], }, "b": { "url": "https://x.example" } }, }
`;
    const hooks = JSON.stringify({
      version: 1,
      hooks: {
        beforeShellExecution: [
          { command: './audit.sh --all', timeout: 5 },
          { command: 'a | b' },
          { type: 'prompt', prompt: '?' },
        ],
        stop: [{ command: 'note', failClosed: true }],
      },
    });
    machine.write('home/.cursor/mcp.json', mcp);
    machine.write('home/.cursor/hooks.json', hooks);
    const { files, next } = await machine.run({ agents: ['cursor'] });
    expect(files.flatMap(said)).toEqual([
      'wrapped a',
      'left b: it is remote: `unwedge mcp --url` can stand in front of it',
      'wrapped beforeShellExecution: audit.sh',
      'left beforeShellExecution: a: it is more than plain words, and its shell is not known',
      'left beforeShellExecution: it is of the type "prompt", which starts no program',
      'wrapped stop: note',
    ]);
    expect(machine.read('home/.cursor/mcp.json')).toBe(
      mcp
        .replace('"${env:HOME}/x"', '"/usr/bin/node"')
        .replace('["y"', `[${machine.front('a')}, "\${env:HOME}/x", "y"`),
    );
    const start = `/usr/bin/node ${machine.script} hook --keep-background --host-timeout`;
    expect(machine.read('home/.cursor/hooks.json')).toContain(`"${start} 5s -- /bin/sh -c './audit.sh --all'"`);
    expect(machine.read('home/.cursor/hooks.json')).toContain(
      `"${start} 600s --on-failure block -- /bin/sh -c 'note'"`,
    );
    expect(next.join()).toContain('trusted');
    await machine.undo({ agents: ['cursor'] });
    expect(machine.read('home/.cursor/mcp.json')).toBe(mcp);
    expect(machine.read('home/.cursor/hooks.json')).toBe(hooks);
  });
});

describe('install vscode', () => {
  it.each([
    ['linux', 'home/.config/Code/User', {}],
    ['darwin', 'home/Library/Application Support/Code/User', {}],
    ['win32', 'appdata/Code/User', { APPDATA: 'appdata' }],
  ] as const)('[E-4] finds the servers of the user and of profiles on %s', async (platform, folder, env) => {
    const machine = startInstall();
    const text = '{\n  // JSONC\n  "servers": { "a": { "type": "stdio", "command": "x" }, },\n  "inputs": []\n}';
    machine.write(`${folder}/mcp.json`, text);
    machine.write(`${folder}/profiles/p1/mcp.json`, text);
    const absolute = 'APPDATA' in env ? { APPDATA: machine.at('appdata') } : {};
    const { files } = await machine.run({ agents: ['vscode'] }, { platform, env: absolute });
    expect(files.map(({ path, status }) => [path, status])).toEqual([
      [machine.at(`${folder}/mcp.json`), 'changed'],
      [machine.at(`${folder}/profiles/p1/mcp.json`), 'changed'],
    ]);
    expect(machine.read(`${folder}/mcp.json`)).toBe(
      text.replace('"command": "x"', `"command": "/usr/bin/node", "args": [${machine.front('a')}, "x"]`),
    );
    await machine.run({ agents: ['vscode'], undo: true }, { platform, env: absolute });
    expect(machine.read(`${folder}/profiles/p1/mcp.json`)).toBe(text);
  });

  it('[E-4] leaves what runs in a sandbox or asks for its command, and hooks for Windows', async () => {
    const machine = startInstall();
    machine.write(
      'work/.vscode/mcp.json',
      JSON.stringify({
        servers: {
          boxed: { command: 'x', sandboxEnabled: true },
          asks: { command: '${input:which}' },
          passes: { command: 'x', args: ['${input:token}'] },
        },
      }),
    );
    machine.write(
      'work/.github/hooks/one.json',
      JSON.stringify({ hooks: { PreToolUse: [{ type: 'command', command: 'a', linux: 'b', windows: 'c' }] } }),
    );
    const { files } = await machine.run({ agents: ['vscode'], withProject: true });
    expect(files.flatMap(said)).toEqual([
      'left boxed: it runs in a sandbox, which keeps unwedge from its files',
      'left asks: its command is asked for when it starts',
      'wrapped passes',
      'wrapped PreToolUse: a',
      'wrapped PreToolUse: b',
      'left PreToolUse: c: it is for Windows',
    ]);
    expect(JSON.parse(machine.read('work/.github/hooks/one.json'))).toMatchObject({
      hooks: {
        PreToolUse: [{ command: "unwedge hook --keep-background --host-timeout 30s -- /bin/sh -c 'a'", windows: 'c' }],
      },
    });
  });
});

describe('install openclaw', () => {
  const json5 = `{
  // JSON5
  mcp: {
    servers: {
      a: { command: 'np\\x78', args: ['-y', 'it\\'s'], },
      'b': { command: "x", enabled: false },
      c: { url: 'https://x.example', transport: 'sse' },
      d: { command: 'x', requestTimeoutMs: 0xFFFFF },
    },
  },
  n: +.5,
}
`;

  it('[E-4] reads JSON5, and adds no key that it does not know', async () => {
    const machine = startInstall();
    machine.write('home/.openclaw/openclaw.json', json5);
    const report = await machine.only({ agents: ['openclaw'] });
    expect(said(report)).toEqual([
      'wrapped a',
      'left b: it is disabled',
      'left c: it is remote: `unwedge mcp --url` can stand in front of it',
      'wrapped d',
    ]);
    expect(machine.read('home/.openclaw/openclaw.json')).toBe(
      json5
        .replace("'np\\x78', args: [", `"/usr/bin/node", args: [${machine.front('a')}, 'np\\x78', `)
        .replace(
          "d: { command: 'x'",
          `d: { command: "/usr/bin/node", "args": [${machine.front('d', '"--call-timeout", "1043575ms", ')}, 'x']`,
        ),
    );
    await machine.undo({ agents: ['openclaw'] });
    expect(machine.read('home/.openclaw/openclaw.json')).toBe(json5);
  });

  it('[E-4] changes the file that is included, however deep', async () => {
    const machine = startInstall();
    const top = '{ mcp: { $include: "./parts/mcp.json5" }, $include: ["more.json5", "gone.json5"] }';
    machine.write('home/.openclaw/openclaw.json', top);
    machine.write(
      'home/.openclaw/more.json5',
      '{ mcp: { servers: { m: { command: "x" } } }, $include: "openclaw.json" }',
    );
    machine.write('home/.openclaw/parts/mcp.json5', '{ servers: { $include: "servers.json5" } }');
    machine.write('home/.openclaw/parts/servers.json5', '{ s: { command: "x" } }');
    const { files } = await machine.run({ agents: ['openclaw'] });
    expect(files.flatMap(said).sort()).toEqual(['wrapped m', 'wrapped s']);
    expect(machine.read('home/.openclaw/openclaw.json')).toBe(top);
    await machine.undo({ agents: ['openclaw'] });
    expect(machine.read('home/.openclaw/parts/servers.json5')).toBe('{ s: { command: "x" } }');
  });
});

describe('install of all agents', () => {
  it('[E-4] finds what is there, and undoes all of it', async () => {
    const machine = startInstall();
    const agents = ['claude', 'codex', 'cursor', 'vscode', 'openclaw'] as const;
    expect((await machine.run({ agents })).files).toEqual([]);
    machine.write('home/.cursor/mcp.json', servers({ a: { command: 'x' } }));
    machine.write('home/.codex/config.toml', '');
    machine.write('home/.claude.json', '{}');
    const { files } = await machine.run({ agents });
    expect(files.map(({ agent }) => agent)).toEqual(['cursor']);
    await machine.undo({ agents });
    expect(machine.read('home/.cursor/mcp.json')).toBe(servers({ a: { command: 'x' } }));
  });
});
