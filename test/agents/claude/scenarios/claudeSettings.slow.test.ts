import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';

interface CommandHook {
  readonly type: string;
  readonly command: string;
  /** In seconds. */
  readonly timeout?: number;
}

interface Settings {
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly CommandHook[] }[]>>;
}

const path = fileURLToPath(new URL('../../../../examples/claude-settings.json', import.meta.url));
const main = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));
const { hooks } = JSON.parse(readFileSync(path, 'utf8')) as Settings;

/** A project with the hooks of the example, each of which is the script given. */
function makeProject(script: string): string {
  const project = temporaryDirectory();
  mkdirSync(join(project, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(main, join(project, 'node_modules', '.bin', 'unwedge'));
  mkdirSync(join(project, '.claude', 'hooks'), { recursive: true });
  for (const name of ['guard.sh', 'format.sh', 'goodbye.sh', 'afplay']) {
    const file = join(project, '.claude', 'hooks', name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
  return project;
}

/** Runs the hooks of an event as Claude Code does: by a shell, the event on stdin. */
async function runHooks(project: string, event: string) {
  const commands = (hooks[event] ?? []).flatMap((group) => group.hooks.map(({ command }) => command));
  const PATH = `${join(project, '.claude', 'hooks')}:${process.env['PATH']}`;
  return Promise.all(
    commands.map((command) =>
      execa('sh', ['-c', command], {
        env: { PATH, HOME: project, CLAUDE_PROJECT_DIR: project },
        extendEnv: false,
        reject: false,
        input: JSON.stringify({ hook_event_name: event, session_id: 's1', tool_name: 'Bash' }),
      }),
    ),
  );
}

describe('examples/claude-settings.json', () => {
  it.each(Object.keys(hooks))('[H-3] passes on what the hooks of %s say', async (event) => {
    const [result] = await runHooks(makeProject('echo why >&2; exit 2'), event);
    expect(result).toMatchObject(event === 'Notification' ? { exitCode: 0 } : { exitCode: 2, stderr: 'why' });
  });

  it('[H-3] declines when the guard crashes, and goes on when another hook does', async () => {
    const project = makeProject('kill -9 $$');
    expect(await runHooks(project, 'PreToolUse')).toMatchObject([{ exitCode: 2 }]);
    expect(await runHooks(project, 'PostToolUse')).toMatchObject([{ exitCode: 0 }]);
    expect(await runHooks(project, 'SessionEnd')).toMatchObject([{ exitCode: 0 }]);
  });

  it('[H-3] has each hook end before its host would end it', () => {
    for (const { command, timeout = 60 } of Object.values(hooks).flatMap((groups) =>
      groups.flatMap((group) => group.hooks),
    )) {
      const limit = /--timeout (\d+)s/.exec(command)?.[1];
      expect(Number(limit ?? 0)).toBeLessThan(timeout);
    }
  });
});
