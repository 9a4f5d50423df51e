import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { said, servers, startInstall } from '../startInstall.ts';

const npx = { command: 'npx', args: ['-y', 'p'] };

describe('install claude', () => {
  it('[E-4] puts itself in front of servers of the user and of single projects, and says what it left', async () => {
    const machine = startInstall();
    const text = `{
    "mcpServers": {
        "files": { "command": "n\\u0070x", "args": ["-y", "p"], "cwd": "/x" },
        "bare": { "command": "mem" },
        "empty": { "command": "mem", "args": [ ] },
        "web": { "type": "http", "url": "https://x.example/mcp" },
        "off": { "command": "mem", "disabled": true },
        "odd": { "command": 7 },
        "odder": { "command": "x", "args": "y" },
        "not": 3
    },
    "projects": { "/work/app": { "history": [], "mcpServers": { "own": { "command": "uvx", "args": ["s"] } } } }
}`;
    machine.write('home/.claude.json', text);
    const report = await machine.only();
    expect(report).toMatchObject({ status: 'changed', agent: 'claude', scope: 'user' });
    expect(said(report)).toEqual([
      'wrapped files',
      'wrapped bare',
      'wrapped empty',
      'left web: it is remote: `unwedge mcp --url` can stand in front of it',
      'left off: it is disabled',
      'left odd: its command is no text',
      'left odder: its args are no list of texts',
      'left not: its entry is no object',
      'wrapped own (/work/app)',
    ]);
    expect(machine.read('home/.claude.json')).toBe(
      text
        .replace('"n\\u0070x", "args": [', `"/usr/bin/node", "args": [${machine.front('files')}, "n\\u0070x", `)
        .replace(
          '"bare": { "command": "mem" }',
          `"bare": { "command": "/usr/bin/node", "args": [${machine.front('bare')}, "mem"] }`,
        )
        .replace(
          '"command": "mem", "args": [ ]',
          `"command": "/usr/bin/node", "args": [${machine.front('empty')}, "mem" ]`,
        )
        .replace('"uvx", "args": [', `"/usr/bin/node", "args": [${machine.front('own')}, "uvx", `),
    );
    const undone = await machine.undo();
    expect(undone.files).toMatchObject([{ status: 'changed', isExact: true }]);
    expect(machine.read('home/.claude.json')).toBe(text);
  });

  it('[E-4] wraps hooks under the shell they had, with the limit they had', async () => {
    const machine = startInstall();
    const guard = `echo "it's \\u00e9 $X" | grep -q 'a\\\\b' && exit 2`.replaceAll('"', '\\"');
    const text = `{ "hooks": {
  "PreToolUse": [{ "matcher": "Bash", "hooks": [
    { "type": "command", "command": "${guard}", "timeout": 7 },
    { "type": "command", "command": "guard.sh", "onFailure": "block" },
    { "type": "prompt", "prompt": "sure?" },
    { "type": "command", "command": "ls", "shell": "powershell" }] }],
  "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "note" }] }],
  "SessionEnd": [{ "hooks": [{ "type": "command", "command": "python3", "args": ["bye.py"] },
    { "type": "command", "command": "slow", "timeout": 600 }] }]
} }`;
    machine.write('home/.claude/settings.json', text);
    const report = await machine.only();
    expect(said(report)).toEqual([
      'wrapped PreToolUse Bash: sh',
      'wrapped PreToolUse Bash: guard.sh',
      'left PreToolUse Bash: it is of the type "prompt", which starts no program',
      'left PreToolUse Bash: ls: it is for a shell of its own (powershell)',
      'wrapped UserPromptSubmit: note',
      'wrapped SessionEnd: python3',
      'wrapped SessionEnd: slow',
    ]);
    const settings = JSON.parse(machine.read('home/.claude/settings.json')) as {
      hooks: Record<string, { hooks: { command: string; args?: string[] }[] }[]>;
    };
    const commands = Object.values(settings.hooks).flatMap((groups) => groups.flatMap(({ hooks }) => hooks));
    const start = `/usr/bin/node ${machine.script} hook --keep-background`;
    expect(commands.map(({ command }) => command)).toEqual([
      `${start} --host-timeout 7s -- /bin/sh -c 'echo "it'\\''s é $X" | grep -q '\\''a\\b'\\'' && exit 2'`,
      `${start} --host-timeout 600s --on-failure block -- /bin/sh -c 'guard.sh'`,
      undefined,
      'ls',
      `${start} --host-timeout 30s -- /bin/sh -c 'note'`,
      '/usr/bin/node',
      `${start} --host-timeout 60s -- /bin/sh -c 'slow'`,
    ]);
    expect(commands[5]?.args).toEqual([machine.script, 'hook', '--keep-background', '--', 'python3', 'bye.py']);
    await machine.undo();
    expect(machine.read('home/.claude/settings.json')).toBe(text);
  });

  it('[E-4] keeps equal hooks equal whatever their limits, as Claude Code runs them once', async () => {
    const machine = startInstall();
    const hook = (timeout?: number) => ({ hooks: [{ type: 'command', command: 'note', ...(timeout && { timeout }) }] });
    machine.write('home/.claude/settings.json', JSON.stringify({ hooks: { Stop: [hook(20), hook(), hook(3)] } }));
    await machine.run();
    const text = machine.read('home/.claude/settings.json');
    const commands = [...text.matchAll(/"command":"([^"]*)"/g)].map(([, command]) => command);
    expect(commands).toHaveLength(3);
    expect(new Set(commands).size).toBe(1);
    expect(commands[0]).toContain('--host-timeout 3s');
  });

  it('[E-4] leaves a hook that a file has too which stays, as both would run', async () => {
    const machine = startInstall();
    const hooks = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'note' }] }] } });
    machine.write('home/.claude/settings.json', hooks);
    machine.write('work/.claude/settings.json', hooks);
    for (const withProject of [false, true]) {
      const { files } = await machine.run({ withProject });
      expect(files.flatMap(said).join()).toMatch(/left Stop: note: .*settings.json has the same/);
    }
    expect(machine.read('home/.claude/settings.json')).toBe(hooks);
    expect(machine.read('work/.claude/settings.json')).toBe(hooks);
  });

  it('[E-4] changes files of the project only when asked, and writes no path of this machine there', async () => {
    const machine = startInstall();
    machine.write('work/.mcp.json', servers({ a: npx }));
    machine.write(
      'work/.claude/settings.local.json',
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
    );
    const { files } = await machine.run({}, { cwd: machine.at('work') });
    expect(files).toMatchObject([
      { scope: 'local', status: 'changed' },
      { scope: 'project', status: 'left', why: expect.stringContaining('--project') as string },
    ]);
    expect(machine.read('work/.mcp.json')).toBe(servers({ a: npx }));
    const { notes } = await machine.run({ withProject: true });
    expect(notes).toEqual([expect.stringContaining('on the PATH of everyone who uses them')]);
    expect(JSON.parse(machine.read('work/.mcp.json'))).toEqual({
      mcpServers: { a: { command: 'unwedge', args: ['mcp', '--name', 'a', '--', 'npx', '-y', 'p'] } },
    });
    expect((await machine.undo()).notes).toEqual([]);
    expect(machine.read('work/.mcp.json')).toBe(servers({ a: npx }));
  });

  const hook = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './guard.sh' }] }] } };

  it.each([
    ['there is none', []],
    ['it is in node_modules alone', ['work/node_modules/.bin/unwedge']],
    ['it is below a path with spaces alone that is not on PATH', ['work/my app/node_modules/.bin/unwedge']],
  ])(
    '[E-4] leaves files of the project as they are and fails where agents find no unwedge: %s',
    async (_how, programs) => {
      const machine = startInstall();
      machine.write('work/.mcp.json', servers({ a: npx }));
      machine.write('work/.claude/settings.json', JSON.stringify(hook));
      for (const program of programs) machine.write(program, '#!/bin/sh', 0o755);
      const env = { PATH: `${machine.at('bin')}:node_modules/.bin:.` };
      for (const dryRun of [true, false]) {
        const { files } = await machine.run({ withProject: true, dryRun }, { env, cwd: machine.at('work') });
        expect(files).toMatchObject([
          {
            scope: 'project',
            status: 'failed',
            why: expect.stringMatching(/not on the PATH .*npm install --global/) as string,
          },
          { scope: 'project', status: 'failed' },
        ]);
      }
      expect(machine.read('work/.mcp.json')).toBe(servers({ a: npx }));
      expect(machine.read('work/.claude/settings.json')).toBe(JSON.stringify(hook));
    },
  );

  it('[E-4] fails for a project that is behind an unwedge that agents do not find, and can still undo it', async () => {
    const machine = startInstall();
    machine.write('work/.mcp.json', servers({ a: npx }));
    machine.write('bin/unwedge', '#!/bin/sh', 0o755);
    const env = { PATH: machine.at('bin') };
    expect((await machine.run({ withProject: true }, { env })).files).toMatchObject([{ status: 'changed' }]);
    const gone = { env: { PATH: machine.at('elsewhere') } };
    expect((await machine.run({ withProject: true }, gone)).files).toMatchObject([{ status: 'failed' }]);
    expect((await machine.run({ withProject: true, undo: true }, gone)).files).toMatchObject([{ status: 'changed' }]);
    expect(machine.read('work/.mcp.json')).toBe(servers({ a: npx }));
  });

  it("[E-4] writes no path into a package that Plug'n'Play keeps, which Node alone cannot start", async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', servers({ a: npx }));
    for (const folder of [
      '.yarn/cache/unwedge-npm-1.zip',
      '.yarn/unplugged/unwedge-1',
      '.yarn/__virtual__/unwedge-1/0',
    ]) {
      const launcher = { command: 'node', args: [machine.at(`work/${folder}/node_modules/unwedge/dist/cli/main.js`)] };
      const { files } = await machine.run({}, { launcher });
      expect(files).toMatchObject([{ status: 'failed', why: expect.stringContaining("Plug'n'Play") as string }]);
    }
    expect(machine.read('home/.claude.json')).toBe(servers({ a: npx }));
  });

  it('[E-4] finds the project from a folder below it', async () => {
    const machine = startInstall();
    machine.write('work/.mcp.json', servers({ a: npx }));
    machine.write('work/src/deep/x', '');
    const { files } = await machine.run({ withProject: true }, { cwd: machine.at('work/src/deep') });
    expect(files).toMatchObject([{ path: machine.at('work/.mcp.json'), status: 'changed' }]);
  });

  it('[E-4] leaves what a policy names by its command, by its name, or allows by its command', async () => {
    const machine = startInstall();
    const text = servers({ denied: npx, named: { command: 'a' }, free: { command: 'b' } });
    machine.write('home/.claude.json', text);
    const deny = [{ serverCommand: ['npx', '-y', 'p'] }, { serverName: 'named' }];
    machine.write('system/etc/claude-code/managed-settings.json', JSON.stringify({ deniedMcpServers: deny }));
    expect(said(await machine.only())).toEqual([
      expect.stringMatching(/^left denied: it is denied by .*managed-settings.json/),
      expect.stringMatching(/^left named: it is denied by/),
      'wrapped free',
    ]);
    await machine.undo();
    machine.write('home/.claude/settings.json', JSON.stringify({ allowedMcpServers: [{ serverCommand: ['b'] }] }));
    const { files } = await machine.run();
    expect(files.flatMap(said).at(-1)).toMatch(/^left free: .*allows commands by their words/);
    expect(machine.read('home/.claude.json')).toBe(text);
  });

  it.each(['disableAllHooks', 'allowManagedHooksOnly'])('[E-4] leaves hooks where settings say %s', async (key) => {
    const machine = startInstall();
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] };
    machine.write('home/.claude/settings.json', JSON.stringify({ [key]: true, hooks }));
    expect(said(await machine.only())).toEqual([expect.stringMatching(new RegExp(`left Stop: x: .*${key}`))]);
  });

  it('[E-4] leaves a server that a plugin brings too, as both would run', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', servers({ mine: npx }));
    machine.write('home/.claude/plugins/cache/market/plug/1.0.0/.mcp.json', servers({ theirs: npx }));
    expect(said(await machine.only())).toEqual(['left mine: the plugin market/plug brings the same: both would run']);
    expect(machine.read('home/.claude/plugins/cache/market/plug/1.0.0/.mcp.json')).toBe(servers({ theirs: npx }));
  });

  it('[E-4] leaves lines for a shell on Windows, and keeps `cmd /c` whole', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', servers({ a: { command: 'cmd', args: ['/c', 'npx', 'p'] } }));
    const hooks = [
      { type: 'command', command: 'x' },
      { type: 'command', command: 'y', args: [] },
    ];
    machine.write('home/.claude/settings.json', JSON.stringify({ hooks: { Stop: [{ hooks }] } }));
    const { files } = await machine.run({}, { platform: 'win32' });
    expect(files.flatMap(said)).toEqual([
      'wrapped a',
      'left Stop: x: its shell on Windows is not known',
      'wrapped Stop: y',
    ]);
    const { mcpServers } = JSON.parse(machine.read('home/.claude.json')) as { mcpServers: { a: { args: string[] } } };
    expect(mcpServers.a.args.slice(1)).toEqual(['mcp', '--name', 'a', '--', 'cmd', '/c', 'npx', 'p']);
  });

  it('[E-4] says that the cache of npx is no place to stay', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', servers({ a: npx }));
    const launcher = { command: 'node', args: ['/home/x/.npm/_npx/0a1b/node_modules/unwedge/dist/cli/main.js'] };
    const { notes } = await machine.run({ dryRun: true }, { launcher });
    expect(notes).toEqual([expect.stringContaining('npm install -g unwedge')]);
    for (const cache of ['.cache/pnpm/dlx/0a1b', 'bunx-0-unwedge@latest', 'xfs-1/dlx-2']) {
      const other = { command: 'node', args: [`/home/x/${cache}/node_modules/unwedge/dist/cli/main.js`] };
      expect((await machine.run({ dryRun: true }, { launcher: other })).notes).toHaveLength(1);
    }
    expect((await machine.run({ dryRun: true })).notes).toEqual([]);
  });

  it('[E-4] says that what is wrapped needs the project that unwedge was installed in', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', servers({ a: npx }));
    const runFrom = async (folder: string): Promise<readonly string[]> => {
      machine.write(`${folder}/package.json`, '{}');
      const args = [machine.at(`${folder}/node_modules/unwedge/dist/cli/main.js`)];
      return (await machine.run({ dryRun: true }, { launcher: { command: 'node', args } })).notes;
    };
    expect((await runFrom('app')).join()).toContain(`runs from the project ${machine.at('app')}`);
    expect(await runFrom('share/pnpm/global/5')).toEqual([]);
    expect((await machine.run({ dryRun: true })).notes).toEqual([]);
  });

  it('[E-4] gives a call a little less time than the agent does by its entry, so that it ends first and says why', async () => {
    const machine = startInstall();
    machine.write(
      'home/.claude.json',
      servers({
        long: { ...npx, timeout: 3_600_000 },
        short: { ...npx, timeout: 9000 },
        none: { ...npx, timeout: 999 },
      }),
    );
    await machine.run();
    const { mcpServers } = JSON.parse(machine.read('home/.claude.json')) as {
      mcpServers: Record<string, { args: string[] }>;
    };
    expect(mcpServers['long']?.args.slice(1, 7)).toEqual(['mcp', '--name', 'long', '--call-timeout', '3595s', '--']);
    expect(mcpServers['short']?.args.slice(4, 7)).toEqual(['--call-timeout', '8100ms', '--']);
    expect(mcpServers['none']?.args.slice(1, 5)).toEqual(['mcp', '--name', 'none', '--']);
  });

  it('[E-4] follows CLAUDE_CONFIG_DIR', async () => {
    const machine = startInstall();
    machine.write('other/.claude.json', servers({ a: npx }));
    machine.write('home/.claude.json', servers({ a: npx }));
    const { files } = await machine.run({}, { env: { CLAUDE_CONFIG_DIR: machine.at('other') } });
    expect(files.map(({ path }) => path)).toEqual([machine.at('other/.claude.json')]);
  });

  it('[E-4] leaves alone a file that Claude Code does not read: one with comments, a double key, no JSON', async () => {
    const machine = startInstall();
    for (const [text, why] of [
      ['{ // mine\n "mcpServers": { "a": { "command": "x" } } }', /comments or commas/],
      [
        '{ "mcpServers": { "a": { "command": "x" } },\n "mcpServers": {} }',
        /line 2: the key "mcpServers" is there twice/,
      ],
      ['{ "mcpServers": { "a": "s3cr3t" ', /line 1 is no JSON/],
      ['[]', /it is no object/],
    ] as const) {
      machine.write('home/.claude.json', text);
      const report = await machine.only();
      expect(report).toMatchObject({ status: 'failed', entries: [] });
      expect(report.why).toMatch(why);
      expect(machine.read('home/.claude.json')).toBe(text);
    }
  });

  it('[E-4] keeps a byte order mark, CRLF, indents of any kind and a missing last line end', async () => {
    const machine = startInstall();
    const text =
      '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x",\r\n\t\t\t"args": [\r\n\t\t\t\t"y"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}';
    machine.write('home/.claude.json', text);
    await machine.run();
    const changed = machine.read('home/.claude.json');
    expect(changed.replace('"/usr/bin/node"', '"x"').replace(`${machine.front('a')}, "x", `, '')).toBe(text);
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(text);
  });

  it('[E-4] [Q-6] takes a server called __proto__ for what it is', async () => {
    const machine = startInstall();
    const text = '{"mcpServers":{"__proto__":{"command":"x"},"constructor":{"command":"y","args":[]}}}';
    machine.write('home/.claude.json', text);
    expect(said(await machine.only())).toEqual(['wrapped __proto__', 'wrapped constructor']);
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(text);
  });

  it('[E-4] reaches a file once that two ways lead to, and leaves a symbolic link one', async () => {
    const machine = startInstall();
    machine.write('dotfiles/settings.json', '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}');
    machine.write('dotfiles/.git/HEAD', '');
    machine.write('home/.claude/keep', '');
    symlinkSync(machine.at('dotfiles/settings.json'), machine.at('home/.claude/settings.json'));
    // In the home itself, the settings of the user are those of the project.
    const { files } = await machine.run({ withProject: true }, { cwd: machine.at('home') });
    expect(files).toMatchObject([{ status: 'changed', notes: [expect.stringContaining('repository') as string] }]);
    expect(readFileSync(machine.at('home/.claude/settings.json'), 'utf8')).toContain('unwedge');
    expect(machine.read('dotfiles/settings.json')).toContain('unwedge');
    await machine.undo();
    expect(machine.read('dotfiles/settings.json')).not.toContain('unwedge');
  });
});

describe('install claude, again', () => {
  it('[E-4] changes nothing and touches no file', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', servers({ a: npx, b: { command: 'x' } }));
    machine.write(
      'home/.claude/settings.json',
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a \\"b\\" | c"}]}]}}',
    );
    await machine.run();
    const before = [
      machine.read('home/.claude.json'),
      machine.read('home/.claude/settings.json'),
      machine.read('state/install.json'),
    ];
    const { files } = await machine.run();
    expect(files.map(({ status }) => status)).toEqual(['same', 'same']);
    expect(files.flatMap(said)).toEqual(['already a', 'already b', 'already Stop: a']);
    expect([
      machine.read('home/.claude.json'),
      machine.read('home/.claude/settings.json'),
      machine.read('state/install.json'),
    ]).toEqual(before);
  });

  it('[E-4] adds what came since, and an undo takes out all of it', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', servers({ a: { command: 'x' } }));
    await machine.run();
    const now = JSON.parse(machine.read('home/.claude.json')) as { mcpServers: object };
    machine.write('home/.claude.json', servers({ ...now.mcpServers, b: { command: 'y' } }));
    expect(said(await machine.only())).toEqual(['already a', 'wrapped b']);
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(servers({ a: { command: 'x' }, b: { command: 'y' } }));
  });

  it('[E-4] knows what is unwedge already, however it was put there', async () => {
    const machine = startInstall();
    machine.write('bin/unwedge', '', 0o755);
    const text = servers({
      byHand: { command: 'unwedge', args: ['mcp', '--name', 'x', '--', 'npx', 'p'] },
      byPath: { command: machine.at('bin/unwedge'), args: ['mcp', '--', 'x'] },
      byNpx: { command: 'npx', args: ['-y', 'unwedge@1', 'mcp', '--', 'x'] },
      own: { command: 'unwedge', args: ['mcp-self'] },
      remote: { command: 'unwedge', args: ['mcp', '--url', 'https://x.example'] },
    });
    machine.write('home/.claude.json', text);
    expect(said(await machine.only())).toEqual([
      'already byHand',
      'already byPath',
      'already byNpx',
      'left own: it is unwedge itself',
      'left remote: it is unwedge itself',
    ]);
    // What somebody wrote with options of their own is theirs.
    machine.write(
      'home/.claude.json',
      servers({ byHand: { command: 'unwedge', args: ['mcp', '--name', 'x', '--', 'p'] } }),
    );
    expect((await machine.undo()).files).toEqual([]);
  });

  it('[E-4] gives each server the name of its entry, so that two which start the same package are told apart', async () => {
    const machine = startInstall();
    const odd = ['--name', 'a$HOME', '\u202eevil', 'x'.repeat(101)];
    const text = servers(Object.fromEntries(['home', 'work', ...odd].map((name) => [name, npx])));
    machine.write('home/.claude.json', text);
    await machine.run();
    const { mcpServers } = JSON.parse(machine.read('home/.claude.json')) as {
      mcpServers: Record<string, { args: string[] }>;
    };
    const named = (name: string) => mcpServers[name]?.args.slice(1, -3);
    expect([named('home'), named('work')]).toEqual([
      ['mcp', '--name', 'home', '--'],
      ['mcp', '--name', 'work', '--'],
    ]);
    expect(odd.map(named)).toEqual(odd.map(() => ['mcp', '--']));
    expect((await machine.run()).files.flatMap(said)).toEqual(
      ['home', 'work', ...odd].map((name) => `already ${name}`),
    );
    rmSync(machine.at('state'), { recursive: true });
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(text);
  });

  it('[E-4] leaves an entry as it is that was put behind unwedge without its name, and takes it out again', async () => {
    const machine = startInstall();
    const earlier = servers({ a: { command: '/usr/bin/node', args: [machine.script, 'mcp', '--', 'npx', '-y', 'p'] } });
    machine.write('home/.claude.json', earlier);
    expect((await machine.run()).files.flatMap(said)).toEqual(['already a']);
    expect(machine.read('home/.claude.json')).toBe(earlier);
    await machine.undo();
    expect(JSON.parse(machine.read('home/.claude.json'))).toEqual({ mcpServers: { a: npx } });
  });

  it('[E-4] stands outside the wrapper of another tool', async () => {
    const machine = startInstall();
    machine.write(
      'home/.claude.json',
      servers({ a: { command: 'uvx', args: ['mcp-scan', 'gateway', '--exec', 'npx'] } }),
    );
    await machine.run();
    expect(machine.read('home/.claude.json')).toContain(`${machine.front('a')}, "uvx", `);
  });

  it('[E-4] repairs the path of unwedge when that has moved', async () => {
    const machine = startInstall();
    const settings = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"it\'s\\u0041"}]}]}}';
    machine.write('home/.claude.json', servers({ a: npx }));
    machine.write('home/.claude/settings.json', settings);
    await machine.run();
    machine.write('new/unwedge/dist/cli/main.js', '');
    const { rmSync } = await import('node:fs');
    rmSync(machine.script);
    const launcher = { command: '/opt/node', args: [machine.at('new/unwedge/dist/cli/main.js')] };
    const { files } = await machine.run({}, { launcher });
    expect(files.flatMap(said)).toEqual(['repaired a', "repaired Stop: it'sA"]);
    expect(machine.read('home/.claude.json')).toContain(machine.at('new/unwedge/dist/cli/main.js'));
    expect(machine.read('home/.claude.json') + machine.read('home/.claude/settings.json')).not.toContain(
      machine.script,
    );
    await machine.undo();
    expect(machine.read('home/.claude.json')).toBe(servers({ a: npx }));
    expect(machine.read('home/.claude/settings.json')).toBe(settings);
  });

  it.each([
    ['Node', { command: '/gone/bin/node', args: ['SCRIPT', 'mcp', '--', 'npx', 'x'] }],
    ['the program itself', { command: '/gone/bin/unwedge', args: ['mcp', '--', 'npx', 'x'] }],
  ])('[E-4] repairs an entry when %s is gone, and takes it out again', async (_, entry) => {
    const machine = startInstall();
    const written = servers({ a: entry }).replace('SCRIPT', machine.script);
    machine.write('home/.claude.json', written);
    machine.write('opt/node', '', 0o755);
    const launcher = { command: machine.at('opt/node'), args: [machine.script] };
    const { files } = await machine.run({}, { launcher });
    expect(files.flatMap(said)).toEqual(['repaired a']);
    const { mcpServers } = JSON.parse(machine.read('home/.claude.json')) as { mcpServers: object };
    expect(mcpServers).toEqual({
      a: { command: launcher.command, args: [machine.script, 'mcp', '--', 'npx', 'x'] },
    });
    expect((await machine.run({}, { launcher })).files.flatMap(said)).toEqual(['already a']);
    await machine.undo();
    expect(JSON.parse(machine.read('home/.claude.json'))).toEqual({
      mcpServers: { a: { command: 'npx', args: ['x'] } },
    });
  });
});
