import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentNames } from '../../../install/configFile.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runHere } from '../startCli.ts';

const table = (key: string) => JSON.stringify({ [key]: { a: { command: 'sh' } } });
/** A file of each client with one program, below the home. */
const files: Readonly<Record<(typeof agentNames)[number], readonly [path: string, text: string]>> = {
  claude: ['.claude.json', table('mcpServers')],
  'claude-desktop': ['.config/Claude/claude_desktop_config.json', table('mcpServers')],
  codex: ['.codex/config.toml', '[mcp_servers.a]\ncommand = "sh"\n'],
  cursor: ['.cursor/mcp.json', table('mcpServers')],
  vscode: ['.config/Code/User/mcp.json', table('servers')],
  copilot: ['.copilot/mcp-config.json', table('mcpServers')],
  gemini: ['.gemini/settings.json', table('mcpServers')],
  opencode: ['.config/opencode/opencode.jsonc', '{"mcp":{"a":{"type":"local","command":["sh"]}}} // mine\n'],
  goose: ['.config/goose/config.yaml', 'extensions:\n  a:\n    type: stdio\n    cmd: sh # mine\n    args: []\n'],
  openclaw: ['.openclaw/openclaw.json', JSON.stringify({ mcp: JSON.parse(table('servers')) as object })],
  zed: ['.config/zed/settings.json', table('context_servers')],
  jetbrains: ['.jetbrains/acp.json', table('agent_servers')],
  acpx: ['.acpx/config.json', table('agents')],
};

function startHome() {
  const home = temporaryDirectory();
  for (const [path, text] of Object.values(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const env = { HOME: home, PATH: '/usr/bin:/bin', XDG_CONFIG_HOME: '', COLUMNS: '100' };
  return {
    run: (...words: string[]) => runHere(words, env),
    read: () => Object.values(files).map(([path]) => readFileSync(join(home, path), 'utf8')),
  };
}

describe.runIf(process.platform === 'linux')('every client that install knows', () => {
  it('[E-10] is named by install without a name', async () => {
    const { code, stderr } = await startHome().run('install');
    expect(code).toBe(2);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`it is one of ${agentNames.join(', ')}, or --all`);
  });

  it('[E-10] is read by doctor and by unwedge alone through the same code', async () => {
    const { run } = startHome();
    const doctor = (await run('doctor', '--all')).stdout.replaceAll(/\s+/g, ' ');
    const here = (await run()).stderr.replaceAll(/\s+/g, ' ');
    for (const [path] of Object.values(files)) {
      expect(doctor).toContain(`in ~/${path}, 0 behind unwedge`);
      expect(here).toContain(`~/${path}, 0 behind unwedge`);
    }
  });

  it('[E-10] is changed by install --all and has its file back to the byte', async () => {
    const { run, read } = startHome();
    const before = read();
    const { stdout } = await run('install', '--all');
    expect(stdout).toContain('Changed 2 agents and 11 servers in 13 files');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Never run behind unwedge on Linux: Claude Desktop, Cursor, VS Code, OpenClaw, Zed, JetBrains AI Assistant, acpx. Their files are as their makers document them.',
    );
    expect(read().filter((text, index) => text === before[index])).toEqual([]);
    expect((await run('doctor', '--all')).stdout).not.toContain('0 behind unwedge');
    await run('install', '--all', '--undo');
    expect(read()).toEqual(before);
  });
});
