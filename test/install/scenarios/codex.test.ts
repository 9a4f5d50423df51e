import { rmSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { said, startInstall } from '../startInstall.ts';

const config = [
  "model = 'x' # mine",
  '[mcp_servers.a]',
  'command = "n\\u0070x" # the one',
  'args = [',
  "  '-y', # yes",
  '  "p",',
  ']',
  '',
  '[mcp_servers.b]',
  "\tcommand = 'C:\\x' # odd",
  '[mcp_servers.b.env]',
  'TOKEN = "abc"',
  '[mcp_servers]',
  'c = { command = """',
  'y""", env = { A.b = "1" } }',
  'd.command = "z"',
  'e = { command = "q", args = [] , enabled = true }',
  'f = { url = "https://x.example" }',
  'g = { command = "q", enabled = false }',
  'h = { command = "q", experimental_environment = "remote" }',
  'i = { command = "q", tool_timeout_sec = 3600.5 }',
  '[[hooks.Stop]]',
  '[[hooks.Stop.hooks]]',
  'type = "command"',
  "command = '''say \"it's\" | tee x'''",
  'timeout = 9',
  '[hooks.state."k"]',
  'trusted_hash = "sha256:0"',
  '',
].join('\n');

const grace = 'mcp_optional_startup_grace_ms = 8000';

describe('install codex', () => {
  it.each(['\n', '\r\n'])('[E-4] changes the words of servers, and not a byte beside them (%j)', async (eol) => {
    const machine = startInstall();
    const text = config.replaceAll('\n', eol);
    machine.write('home/.codex/config.toml', text);
    const report = await machine.only({ agents: ['codex'] });
    expect(said(report)).toEqual([
      'wrapped a',
      'wrapped b',
      'wrapped c',
      'wrapped d',
      'wrapped e',
      'left f: it is remote: `unwedge mcp --url` can stand in front of it',
      'left g: it is disabled',
      'left h: it runs elsewhere (remote)',
      'wrapped i',
      'left Stop: say: Codex would not run it before you trust it anew: --codex-hooks',
      'set mcp_optional_startup_grace_ms = 8000: Codex waits up to 8 s for its servers, so that its first request has their tools',
    ]);
    const cut = '"--max-result", "10kB", ';
    const words = (name: string, more = ''): string => machine.front(name, `${more}${cut}`);
    const own = '"/usr/bin/node"';
    const lines = [
      ["model = 'x' # mine\n", `model = 'x' # mine\n${grace}\n`],
      ['command = "n\\u0070x"', `command = ${own}`],
      ['args = [\n', `args = [${words('a')}, "n\\u0070x", \n`],
      ["\tcommand = 'C:\\x'", `\targs = [${words('b')}, 'C:\\x']\n\tcommand = ${own}`],
      ['command = """\ny"""', `command = ${own}, args = [${words('c')}, """\ny"""]`],
      ['d.command = "z"', `d.args = [${words('d')}, "z"]\nd.command = ${own}`],
      ['"q", args = []', `${own}, args = [${words('e')}, "q"]`],
      ['i = { command = "q"', `i = { command = ${own}, args = [${words('i', '"--call-timeout", "3595500ms", ')}, "q"]`],
    ] as const;
    const expected = lines.reduce((made, [from, to]) => made.replace(from, to), config).replaceAll('\n', eol);
    expect(machine.read('home/.codex/config.toml')).toBe(expected);
    await machine.undo({ agents: ['codex'] });
    expect(machine.read('home/.codex/config.toml')).toBe(text);
  });

  it('[E-4] wraps hooks on request only, for the login shell they had', async () => {
    const machine = startInstall();
    machine.write('home/.codex/config.toml', config);
    const json = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say 'hi'"},{"type":"command","command":"a \\\\ b"}]}]}}`;
    machine.write('home/.codex/hooks.json', json);
    const before = await machine.run({ agents: ['codex'] });
    expect(machine.read('home/.codex/hooks.json')).toBe(json);
    expect(before.files.flatMap(said)).toContainEqual(expect.stringMatching(/^left Stop: say: .*--codex-hooks/));
    const { files } = await machine.run({ agents: ['codex'], withCodexHooks: true });
    expect(files.flatMap(said).slice(-3)).toEqual([
      'wrapped Stop: say',
      'wrapped Stop: say',
      'left Stop: a: it has a backslash, which shells quote in different ways',
    ]);
    const { hooks } = JSON.parse(machine.read('home/.codex/hooks.json')) as {
      hooks: { Stop: { hooks: { command: string }[] }[] };
    };
    expect(hooks.Stop[0]?.hooks[0]?.command).toBe(
      `/usr/bin/node ${machine.script} hook --keep-background --host-timeout 600s -- "$SHELL" -lc 'say '\\''hi'\\'''`,
    );
    await machine.undo({ agents: ['codex'] });
    expect(machine.read('home/.codex/config.toml')).toBe(config);
    expect(machine.read('home/.codex/hooks.json')).toBe(json);
  });

  it('[E-4] looks into profiles, follows CODEX_HOME, and leaves servers where an administrator names commands', async () => {
    const machine = startInstall();
    const text = '[mcp_servers.a]\ncommand = "x"\n';
    machine.write('other/work.config.toml', text);
    const env = { CODEX_HOME: machine.at('other') };
    machine.write('system/etc/codex/requirements.toml', '[mcp_servers.a.identity]\ncommand = "x"\n');
    const left = await machine.run({ agents: ['codex'] }, { env });
    expect(left.files.flatMap(said)).toEqual([expect.stringMatching(/left a: .*requirements.toml/)]);
    machine.write('system/etc/codex/requirements.toml', 'allowed_sandbox_modes = []\n');
    const { files } = await machine.run({ agents: ['codex'] }, { env });
    expect(files).toMatchObject([{ path: machine.at('other/work.config.toml'), status: 'changed' }]);
  });

  const server = '[mcp_servers.a]\ncommand = "x"\n';
  it.each([0, 8000, 9000])('[E-4] leaves a time of %i as it is: 0 waits for each server', async (ms) => {
    const machine = startInstall();
    machine.write('home/.codex/config.toml', `mcp_optional_startup_grace_ms = ${ms}\n${server}`);
    await machine.run({ agents: ['codex'] });
    const wrapped = machine.read('home/.codex/config.toml');
    expect(wrapped.split('\n')[0]).toBe(`mcp_optional_startup_grace_ms = ${ms}`);
    expect(wrapped).toContain('"mcp"');
  });

  it.each([
    ['a file that begins with a table', server, `${grace}\n[mcp`],
    ['comments before the first table', `# of\n\n# a\n${server}`, `${grace}\n# of\n\n# a\n[mcp`],
    ['fields before it', `a = 1\nb = [\n1,\n] # c\n\n# s\n${server}`, `] # c\n${grace}\n\n# s\n[mcp`],
    ['a mark at its beginning', `\uFEFF${server}`, `\uFEFF${grace}\n[mcp`],
    ['servers by dotted keys, and no line break at its end', 'mcp_servers.a.command = "x"', `\n${grace}`],
    ['servers in a line', 'mcp_servers = { a = { command = "x" } }\r\n', `}\r\n${grace}\r\n`],
    ['less', `mcp_optional_startup_grace_ms = 2_000 # mine\n${server}`, `${grace} # mine\n`],
    [
      'less, under a quoted key',
      `"mcp_optional_startup_grace_ms"=1\n${server}`,
      '"mcp_optional_startup_grace_ms"=8000\n',
    ],
    ['less in a table, which Codex does not read', `${server}mcp_optional_startup_grace_ms = 1\n`, `${grace}\n[mcp`],
  ])('[E-4] has Codex wait for servers, as it is at its top level, in a file with %s', async (_, text, written) => {
    const machine = startInstall();
    machine.write('home/.codex/config.toml', text);
    const planned = await machine.only({ agents: ['codex'], dryRun: true });
    expect(planned.diff).toMatch(/^\+.*mcp_optional_startup_grace_ms.*8000/m);
    expect(machine.read('home/.codex/config.toml')).toBe(text);
    await machine.run({ agents: ['codex'] });
    const wrapped = machine.read('home/.codex/config.toml');
    expect(wrapped).toContain(written);
    expect(parse(wrapped.replace(/^\uFEFF/, ''))).toMatchObject({ mcp_optional_startup_grace_ms: 8000 });
    const again = await machine.only({ agents: ['codex'] });
    expect([again.status, said(again)]).toEqual(['same', ['already a']]);
    const { files } = await machine.undo({ agents: ['codex'] });
    expect(files.flatMap(said)).toEqual(['restored a', 'restored mcp_optional_startup_grace_ms']);
    expect(machine.read('home/.codex/config.toml')).toBe(text);
  });

  it.each([
    ['enough', `mcp_optional_startup_grace_ms = 8000\n${server}`],
    ['more', `mcp_optional_startup_grace_ms = 20_000\n${server}`],
    ['what is no number', `mcp_optional_startup_grace_ms = "5s"\n${server}`],
  ])('[E-4] leaves the wait of Codex where it says %s, also when it is undone', async (_, text) => {
    const machine = startInstall();
    machine.write('home/.codex/config.toml', text);
    expect(said(await machine.only({ agents: ['codex'] }))).toEqual(['wrapped a']);
    await machine.undo({ agents: ['codex'] });
    expect(machine.read('home/.codex/config.toml')).toBe(text);
  });

  it('[E-4] leaves the wait of Codex where no server comes to be behind unwedge', async () => {
    const machine = startInstall();
    const text = `[mcp_servers.a]\nurl = "https://x.example"\n[mcp_servers.b]\ncommand = "q"\nenabled = false\n${config.slice(config.indexOf('[[hooks'))}`;
    machine.write('home/.codex/config.toml', text);
    expect((await machine.only({ agents: ['codex'], withCodexHooks: true })).entries).toMatchObject([
      { action: 'left' },
      { action: 'left' },
      { action: 'wrapped', kind: 'hook' },
    ]);
    expect(machine.read('home/.codex/config.toml')).not.toContain('grace');
  });

  it('[E-4] adds the wait to servers that an earlier version wrapped, and takes it out with them', async () => {
    const machine = startInstall();
    machine.write('home/.codex/config.toml', server);
    await machine.run({ agents: ['codex'] });
    const text = machine.read('home/.codex/config.toml').replace(`${grace}\n`, '');
    const record = JSON.parse(machine.read('state/install.json')) as { files: Record<string, { setting?: unknown }> };
    for (const file of Object.values(record.files)) delete file.setting;
    machine.write('state/install.json', JSON.stringify(record));
    machine.write('home/.codex/config.toml', text);
    expect(said(await machine.only({ agents: ['codex'] })).map((words) => words.split(':')[0])).toEqual([
      'already a',
      `set ${grace}`,
    ]);
    await machine.undo({ agents: ['codex'] });
    expect(machine.read('home/.codex/config.toml')).toBe(server);
  });

  it('[E-4] keeps a wait that the user changed since, what stands beside it, and does without its record', async () => {
    const machine = startInstall();
    const undone = async (change: (text: string) => string) => {
      machine.write('home/.codex/config.toml', server);
      await machine.run({ agents: ['codex'] });
      machine.write('home/.codex/config.toml', change(machine.read('home/.codex/config.toml')));
      await machine.undo({ agents: ['codex'] });
      return machine.read('home/.codex/config.toml');
    };
    expect(await undone((text) => text.replace('8000', '30000'))).toBe(
      `mcp_optional_startup_grace_ms = 30000\n${server}`,
    );
    expect(await undone((text) => text.replace('8000', '8000 # so'))).toBe(` # so\n${server}`);
    expect(await undone((text) => `a = 1\n\n  ${text}`)).toBe(`a = 1\n\n${server}`);
    expect(
      await undone((text) => {
        rmSync(machine.at('state'), { recursive: true });
        return text;
      }),
    ).toBe(server.replace('"x"\n', '"x"\n').replace('command', 'args = []\ncommand'));
  });

  it('[E-4] leaves alone what is no TOML, or says a thing twice, and shows nothing of it', async () => {
    const machine = startInstall();
    for (const text of ['[mcp_servers.a\ncommand = "s3cr3t"', '[mcp_servers.a]\ncommand = "x"\ncommand = "s3cr3t"\n']) {
      machine.write('home/.codex/config.toml', text);
      const report = await machine.only({ agents: ['codex'] });
      expect(report.status).toBe('failed');
      expect(report.why).toMatch(/^line \d/);
      expect(report.why).not.toContain('s3cr3t');
      expect(machine.read('home/.codex/config.toml')).toBe(text);
    }
  });
});
