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
    ]);
    const words = machine.front;
    const own = '"/usr/bin/node"';
    const lines = [
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
