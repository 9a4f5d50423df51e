import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { claude } from '../../../install/agents/agents.ts';
import { planWrap } from '../../../install/planFile.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** A command as `install` writes it. */
function wrappedCommand(command: string, options: object = {}): string {
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command, ...options }] }] };
  const [file] = claude.files({ env: {}, home: '/h' } as never, '/p').filter((each) => each.hooks !== undefined);
  if (file === undefined) throw new Error('No settings');
  const { after } = planWrap(
    Buffer.from(JSON.stringify({ hooks })),
    file,
    {
      agent: claude,
      rules: undefined,
      launcher: { command: process.execPath, args: [main] },
      withRequestedHooks: false,
      isThere: () => true,
      isWindows: false,
      scripts: new Set([main]),
      elsewhere: new Map(),
    },
    undefined,
  );
  const written = JSON.parse(after?.toString() ?? '{}') as {
    hooks: { PreToolUse: [{ hooks: [{ command: string }] }] };
  };
  return written.hooks.PreToolUse[0].hooks[0].command;
}

/** As Claude Code runs a hook. */
async function run(command: string, home: string) {
  const { exitCode, stdout, stderr } = await execa('/bin/sh', ['-c', command], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, X: 'a b' },
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    input: '{"hook_event_name":"PreToolUse"}\n',
  });
  return { exitCode, stdout, stderr };
}

describe('a hook that is wrapped', () => {
  it.each([
    'echo hi',
    `echo "it's $X" '$X' \\$X`,
    'cat; exit 2',
    'echo no >&2; exit 2',
    'exit 127',
    'no-such-program-here',
    'cat | tr a-z A-Z && echo $?',
    'cd / && pwd; echo "$0"',
    'for i in 1 2; do echo $i; done > out; cat out',
    "FOO=1 sh -c 'echo $FOO' # a comment",
    'cat <<EOF\nhere $X\nEOF',
    './script',
    'printf "%s\\n" "a\\tb" \'\\\\\' "é"',
    '(exit 3) || exit 4',
    'trap "echo bye" EXIT; echo hi',
    '"./script" "a  b"',
    'ulimit -c; umask',
  ])('[E-4] says and answers the same: %j', async (command) => {
    const home = temporaryDirectory();
    writeFileSync(join(home, 'script'), 'echo "script $# $1"\n', { mode: 0o755 });
    const wrapped = wrappedCommand(command);
    expect(wrapped).toContain(' hook --keep-background --host-timeout 600s -- /bin/sh -c ');
    expect(await run(wrapped, home)).toEqual(await run(command, home));
  });

  it('[E-4] leaves running what it started, and still blocks by a failure if it was to', async () => {
    const home = temporaryDirectory();
    const { stdout } = await run(wrappedCommand('sleep 30 >/dev/null 2>&1 & echo $!'), home);
    const pid = Number(stdout);
    expect(process.kill(pid, 0)).toBe(true);
    process.kill(pid);
    const killed = await run(wrappedCommand('kill -9 $$', { onFailure: 'block' }), home);
    expect(killed.exitCode).toBe(2);
    expect((await run(wrappedCommand('kill -9 $$'), home)).exitCode).toBe(0);
  });
});
