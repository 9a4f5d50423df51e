import { describe, expect, it } from 'vitest';
import { serverName } from '../../../cli/mcp/serverName.ts';

/** Packages by the beginning of what lies in them. */
const packages: Readonly<Record<string, string>> = {
  '/opt/files/': '@acme/server-files',
  '/opt/scoped/': '@acme/mcp',
  'rel/': 'relative',
  '/opt/app/': 'the-app',
};

const around = {
  cwd: '/work/weather',
  packageOf: (file: string) => Object.entries(packages).find(([folder]) => file.startsWith(folder))?.[1],
};

describe('the name of a server', () => {
  it.each([
    // Its package.
    ['npx', ['-y', '@scope/server-x'], 'server-x'],
    ['npx', ['-y', '@scope/server-x@1.2.3', '/data'], 'server-x'],
    ['npx', ['--yes', 'server-x@latest'], 'server-x'],
    ['npx', ['-y', '@playwright/mcp@latest'], 'playwright'],
    ['npx', ['-y', 'mcp-server'], 'mcp-server'],
    ['npx', ['-y', '--package', '@scope/pkg@1', 'server-x', '--stdio'], 'server-x'],
    ['npx', ['-y', '-p', '@scope/pkg@1'], 'pkg'],
    ['C:\\node\\npx.cmd', ['-y', 'server-x'], 'server-x'],
    ['npm', ['exec', '-y', '--', '@scope/server-x'], 'server-x'],
    ['pnpm', ['dlx', 'server-x'], 'server-x'],
    ['yarn', ['dlx', '-q', 'server-x'], 'server-x'],
    ['bunx', ['server-x@3'], 'server-x'],
    ['bun', ['x', '@scope/server-x'], 'server-x'],
    ['deno', ['run', '-A', 'npm:@scope/server-x@1'], 'server-x'],
    ['uvx', ['mcp-server-git', '--repository', '/r'], 'mcp-server-git'],
    ['uvx', ['mcp-server-git==1.2'], 'mcp-server-git'],
    ['uvx', ['markitdown[all]'], 'markitdown'],
    ['uvx', ['--from', 'git+https://host/acme/serena', 'serena', 'start'], 'serena'],
    ['pipx', ['run', 'mcp-server-time'], 'mcp-server-time'],
    ['uv', ['tool', 'run', 'mcp-server-time'], 'mcp-server-time'],
    ['uv', ['run', '--with', 'mcp', 'weather.py'], 'weather.py'],
    ['uv', ['run', 'python', 'server.py'], 'weather'],
    ['uv', ['--directory', '/srv/tides', 'run', 'server.py'], 'tides'],
    ['npm', ['--prefix', '/opt/files/', 'run', 'start'], 'server-files'],
    ['npm', ['start'], 'npm'],
    // Its image.
    ['docker', ['run', '-i', '--rm', 'mcp/github:latest'], 'github'],
    [
      'docker',
      ['run', '-i', '--rm', '-e', 'TOKEN', '--mount', 'type=bind,src=/a,dst=/b', 'ghcr.io/acme/files:1'],
      'files',
    ],
    ['docker', ['run', '--env=A=1', '-it', 'localhost:5000/acme/files', 'arg'], 'files'],
    ['docker', ['run', '--rm', 'acme/mcp-server@sha256:abc'], 'acme'],
    ['podman', ['exec', '-i', 'files-1', 'node', 'index.js'], 'files-1'],
    ['docker', ['ps'], 'docker'],
    ['docker', ['run', '-i'], 'docker'],
    // Its script.
    ['node', ['/opt/files/dist/index.js'], 'server-files'],
    ['node', ['--import', './index.js', '/opt/files/dist/server.js', 'x'], 'server-files'],
    ['node', ['/opt/scoped/dist/index.js'], 'acme'],
    ['node', ['rel/dist/index.js'], 'relative'],
    ['node', ['/srv/tides/dist/index.js'], 'tides'],
    ['node', ['dist/index.js'], 'weather'],
    ['node', ['C:\\srv\\tides\\build\\index.js'], 'tides'],
    ['node', ['/index.js'], 'index.js'],
    ['node', ['/srv/tides/watch.mjs'], 'watch.mjs'],
    ['node', ['-e', '0'], 'node'],
    ['tsx', ['src/index.ts'], 'weather'],
    ['bun', ['run', '/opt/app/src/index.ts'], 'the-app'],
    ['python3', ['/srv/tides/server.py'], 'tides'],
    ['python3', ['-m', 'tides.server'], 'tides'],
    ['python3', ['-u', '-m', 'mcp_tides'], 'mcp_tides'],
    ['python3', ['-m', 'server'], 'server'],
    ['java', ['-jar', '/srv/tides/target/tides.jar'], 'tides.jar'],
    ['/srv/tides/bin/server', [], 'tides'],
    ['/usr/local/bin/mcp-files', ['--stdio'], 'mcp-files'],
    ['mcp-files', [], 'mcp-files'],
    ['server', [], 'server'],
    // Behind another command.
    ['env', ['-i', 'A=1', 'npx', '-y', 'server-x'], 'server-x'],
    ['cmd', ['/c', 'npx', '-y', 'server-x'], 'server-x'],
    ['sh', ['-c', 'exec npx -y @scope/server-x'], 'server-x'],
    ['bash', ['-lc', 'npx -y server-x'], 'server-x'],
    ['sh', ['-c', 'cd /x && npx -y server-x'], 'sh'],
    ['sh', ['-c'], 'sh'],
    ['env', [], 'env'],
    ['env', ['-i', 'A=1'], 'env'],
    ['cmd', ['/k'], 'cmd'],
  ])('[P-3] [L-4] of %s %j is %s', (command, args, name) => {
    expect(serverName(command, args, around)).toBe(name);
  });

  it.each([
    ['sh', ['-c', 'API_KEY=sk-1 npx -y server-x'], 'server-x'],
    ['npx', ['https://sk-1@host/server-x.tgz?token=sk-1#sk-1'], 'server-x.tgz'],
    ['npx', ['https://sk-1@host'], 'host'],
    ['uvx', ['git+https://me:sk-1@host/acme/tides.git@main'], 'tides'],
  ])('[P-3] [O-1] of %s %j is %s, without a secret', (command, args, name) => {
    expect(serverName(command, args, around)).toBe(name);
  });

  it.each([
    ['npx', ['github:acme/tides#main'], 'tides'],
    ['node', ['.'], 'weather'],
    ['node', ['..'], 'work'],
    ['node', ['/opt/files/'], 'files'],
    ['npx', [''], 'npx'],
    ['npx', ['@'], 'npx'],
    ['node', ['/srv/\u200b/watch.mjs'], 'watch.mjs'],
    ['node', ['/srv/ti\u001b[1mdes\u202e/index.js'], 'ti[1mdes'],
    ['\u0007', [], 'server'],
    ['node', [`/srv/${'😀'.repeat(101)}`], '😀'.repeat(100)],
  ])('[P-3] [O-8] of %s %j can be shown: %s', (command, args, name) => {
    expect(serverName(command, args, around)).toBe(name);
  });

  it('[P-3] is looked for in the beginning of long words, and behind few commands', () => {
    expect(serverName('npx', [`${'@a'.repeat(60_000)}/`], around)).toBe('a');
    expect(serverName('env', Array<string>(20_000).fill('env'), around)).toBe('env');
  });
});
