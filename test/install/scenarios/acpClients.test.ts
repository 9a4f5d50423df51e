import { describe, expect, it } from 'vitest';
import { said, startInstall } from '../startInstall.ts';

/** As the documentation of Zed has it, with comments and trailing commas, and the older form of a command. */
const zedSettings = `// Zed settings
{
  "theme": "One Dark", // mine
  "agent_servers": {
    "My Agent": {
      "type": "custom",
      "command": "node",
      "args": ["~/projects/agent/index.js", "--acp"],
      "env": { "API_KEY": "k" },
    },
    "plain": { "command": "/opt/a gent", "default_mode": "ask" },
    "old": { "command": { "path": "goose", "args": ["acp"], "env": null } },
    "home": { "command": "~/bin/agent", "args": [] },
    "claude-acp": { "type": "registry", "env": {} },
    "gemini": { "ignore_system_version": false },
    "odd": { "type": "extension", "command": "x" },
  },
  "context_servers": {
    "files": { "source": "custom", "command": "npx", "args": ["-y", "@acme/files"], "timeout": 100 },
    "far": { "command": "x", "args": [], "remote": true },
    "net": { "url": "https://x.example/mcp" },
    "ext": { "enabled": true, "settings": {} },
  },
  /* the rest */ "tab_size": 2,
}
`;

describe('install zed', () => {
  it('[A-6] [E-4] puts `unwedge acp` in front of agents and `unwedge mcp` in front of servers, and nothing else', async () => {
    const machine = startInstall();
    machine.write('home/.config/zed/settings.json', zedSettings);
    const report = await machine.only({ agents: ['zed'] });
    const unnamed =
      'it has no command: its client knows how it starts; add it as one with a command of its own to put unwedge in front';
    expect(said(report)).toEqual([
      'wrapped files',
      'left far: it runs on the machine of a remote project',
      'left net: it is remote: `unwedge mcp --url` can stand in front of it',
      'left ext: it has no command',
      'wrapped My Agent',
      'wrapped plain',
      'wrapped old',
      'left home: its command begins with `~`, which is filled in there alone: write the whole path',
      `left claude-acp: ${unnamed}`,
      `left gemini: ${unnamed}`,
      'left odd: it is of the type "extension"',
    ]);
    const words = (name: string): string => `"${machine.script}", "acp", "--name", "${name}", "--"`;
    const wrapped = zedSettings
      .replace(
        '"command": "node",\n      "args": [',
        `"command": "/usr/bin/node",\n      "args": [${words('My Agent')}, "node", `,
      )
      .replace('"command": "/opt/a gent"', `"command": "/usr/bin/node", "args": [${words('plain')}, "/opt/a gent"]`)
      .replace('"path": "goose", "args": [', `"path": "/usr/bin/node", "args": [${words('old')}, "goose", `)
      .replace(
        '"command": "npx", "args": [',
        `"command": "/usr/bin/node", "args": [${machine.front('files', '"--call-timeout", "95s", ')}, "npx", `,
      );
    expect(machine.read('home/.config/zed/settings.json')).toBe(wrapped);
    expect(report.diff).toContain('+      "command": "/usr/bin/node",');
    expect(report.diff).not.toContain('"k"');

    const again = await machine.only({ agents: ['zed'] });
    expect(again.status).toBe('same');
    expect(said(again).filter((line) => line.startsWith('already'))).toHaveLength(4);
    await machine.undo({ agents: ['zed'] });
    expect(machine.read('home/.config/zed/settings.json')).toBe(zedSettings);
  });

  it('[A-6] [E-4] keeps what is edited since, and finds its own words without a record', async () => {
    const machine = startInstall();
    machine.write('home/.config/zed/settings.json', zedSettings);
    await machine.run({ agents: ['zed'] });
    const edited = machine.read('home/.config/zed/settings.json').replace('One Dark', 'One Light');
    machine.write('home/.config/zed/settings.json', edited);
    machine.write('state/install.json', '');
    await machine.undo({ agents: ['zed'] });
    expect(machine.read('home/.config/zed/settings.json')).toBe(
      // An entry that had no list keeps an empty one.
      zedSettings.replace('One Dark', 'One Light').replace('"/opt/a gent"', '"/opt/a gent", "args": []'),
    );
  });

  it.each([
    ['linux', 'home/.config/zed', {}],
    ['linux', 'flat/zed', { FLATPAK_XDG_CONFIG_HOME: 'flat', XDG_CONFIG_HOME: 'xdg' }],
    ['linux', 'xdg/zed', { XDG_CONFIG_HOME: 'xdg' }],
    ['darwin', 'home/.config/zed', { XDG_CONFIG_HOME: 'xdg' }],
    ['win32', 'roaming/Zed', { APPDATA: 'roaming' }],
  ] as const)('[A-6] finds the settings on %s in %s', async (platform, folder, env) => {
    const machine = startInstall();
    machine.write(`${folder}/settings.json`, '{ "agent_servers": { "a": { "command": "x", "args": [] } } }');
    const absolute = Object.fromEntries(Object.entries(env).map(([key, path]) => [key, machine.at(path)]));
    const { files } = await machine.run({ agents: ['zed'] }, { platform, env: absolute });
    expect(files.map(({ path, status }) => [path, status])).toEqual([
      [machine.at(`${folder}/settings.json`), 'changed'],
    ]);
  });

  it('[A-6] [E-4] changes servers of a project on request only, by the bare name', async () => {
    const machine = startInstall();
    const text =
      '{ "context_servers": { "a": { "command": "x", "args": ["y"] } }, "agent_servers": {"b": {"command": "x"}} }';
    machine.write('work/.zed/settings.json', text);
    expect((await machine.only({ agents: ['zed'] })).status).toBe('left');
    const report = await machine.only({ agents: ['zed'], withProject: true });
    // Zed reads agents from the settings of the user alone.
    expect(said(report)).toEqual(['wrapped a']);
    expect(machine.read('work/.zed/settings.json')).toBe(
      text.replace('"x", "args": [', '"unwedge", "args": ["mcp", "--name", "a", "--", "x", '),
    );
  });
});

describe('install jetbrains', () => {
  const settings = `{
  "default_mcp_settings": { "use_idea_mcp": false, "use_custom_mcp": true },
  "agent_servers": {
    "Example Agent": { "command": "/path/to/agent", "args": [ "acp" ], "env": { "API_KEY": "your-api-key-here" } },
    "Bare": { "command": "agent" }
  }
}`;

  it('[A-6] [E-4] puts `unwedge acp` in front of each agent, and takes it back to the byte', async () => {
    const machine = startInstall();
    machine.write('home/.jetbrains/acp.json', settings);
    const report = await machine.only({ agents: ['jetbrains'] });
    expect(said(report)).toEqual(['wrapped Example Agent', 'wrapped Bare']);
    const words = (name: string): string => `"${machine.script}", "acp", "--name", "${name}", "--"`;
    expect(machine.read('home/.jetbrains/acp.json')).toBe(
      settings
        .replace(
          '"/path/to/agent", "args": [ ',
          `"/usr/bin/node", "args": [${words('Example Agent')}, "/path/to/agent",  `,
        )
        .replace('"command": "agent"', `"command": "/usr/bin/node", "args": [${words('Bare')}, "agent"]`),
    );
    expect((await machine.only({ agents: ['jetbrains'] })).status).toBe('same');
    await machine.undo({ agents: ['jetbrains'] });
    expect(machine.read('home/.jetbrains/acp.json')).toBe(settings);
  });
});

describe('install acpx', () => {
  const settings = `{
  "defaultAgent": "codex",
  "agents": {
    "list": { "argv": ["./bin/my-acp-server", "acp", "--profile", "ci"] },
    "one": { "argv": [ "agent" ] },
    "pair": { "command": "/opt/internal/codex-acp", "args": ["--profile", "stable"] },
    "line": { "command": "node ./scripts/ci-acp-bridge.mjs 'a b'" },
    "word": { "command": "agent" },
    "more": { "command": "agent \\"$HOME\\"" },
    "both": { "argv": ["x"], "command": "x" }
  },
  "auth": { "openai_api_key": "sk-1" }
}
`;

  it('[A-6] [E-4] knows a list, a command with arguments and a line, and takes all of it back to the byte', async () => {
    const machine = startInstall();
    machine.write('home/.acpx/config.json', settings);
    const report = await machine.only({ agents: ['acpx'] });
    expect(said(report)).toEqual([
      'wrapped list',
      'wrapped one',
      'wrapped pair',
      'wrapped line',
      'wrapped word',
      'left more: it is more than plain words',
      'left both: its argv is no list of texts alone',
    ]);
    const words = (name: string): string => `"${machine.script}", "acp", "--name", "${name}", "--"`;
    const line = (name: string): string => `/usr/bin/node ${machine.script} acp --name ${name} -- `;
    const wrapped = settings
      .replace('["./bin', `["/usr/bin/node", ${words('list')}, "./bin`)
      .replace('[ "agent"', `[ "/usr/bin/node", ${words('one')}, "agent"`)
      .replace(
        '"/opt/internal/codex-acp", "args": [',
        `"/usr/bin/node", "args": [${words('pair')}, "/opt/internal/codex-acp", `,
      )
      .replace('"node ./scripts', `"${line('line')}node ./scripts`)
      .replace('"word": { "command": "agent"', `"word": { "command": "${line('word')}agent"`);
    expect(machine.read('home/.acpx/config.json')).toBe(wrapped);
    const again = await machine.only({ agents: ['acpx'] });
    expect([again.status, said(again).filter((each) => each.startsWith('already')).length]).toEqual(['same', 5]);

    machine.write('state/install.json', '');
    await machine.undo({ agents: ['acpx'] });
    expect(machine.read('home/.acpx/config.json')).toBe(settings);
  });

  it('[A-6] [E-4] repairs the path of an unwedge that moved, in each form', async () => {
    const machine = startInstall();
    machine.write('home/.acpx/config.json', settings);
    const gone = { command: '/usr/bin/node', args: [machine.at('gone/unwedge/dist/cli/main.js')] };
    await machine.run({ agents: ['acpx'] }, { launcher: gone });
    const report = await machine.only({ agents: ['acpx'] });
    expect(said(report).filter((each) => each.startsWith('repaired'))).toHaveLength(5);
    expect(machine.read('home/.acpx/config.json')).not.toContain('gone');
    await machine.undo({ agents: ['acpx'] });
    expect(machine.read('home/.acpx/config.json')).toBe(settings);
  });

  it('[A-6] leaves a pair where the path of Node has a space: acpx does not take it', async () => {
    const machine = startInstall({ launcher: { command: '/Program Files/node', args: ['/u/main.js'] } });
    machine.write('home/.acpx/config.json', settings);
    const lines = said(await machine.only({ agents: ['acpx'] }));
    expect(lines[2]).toBe('left pair: acpx takes no command with a space beside args: write both as one list, `argv`');
    expect(machine.read('home/.acpx/config.json')).toContain(
      `"'/Program Files/node' /u/main.js acp --name word -- agent"`,
    );
    await machine.undo({ agents: ['acpx'] });
    expect(machine.read('home/.acpx/config.json')).toBe(settings);
  });
});
