import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands, loadCommand } from '../../../cli/commands.ts';
import { optionsOf } from '../../../cli/help.ts';
import { failed, hasSqlite, temporaryDirectory } from '../../store/startStore.ts';
import { call, databaseWith, runBuilt } from '../startCli.ts';
import { main } from '../startRun.ts';

/** What the last of the words may become, as the scripts hear it. */
async function suggestions(...words: string[]): Promise<readonly string[]> {
  const { stdout } = await call(['completion', '--suggest', '--', ...words]);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t', 1)[0] ?? '');
}

const missing = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).error !== undefined;

/** A directory with `unwedge` as a program, and the environment of a shell that finds it. */
async function surroundings(shell: string) {
  const directory = temporaryDirectory();
  const program = join(directory, 'unwedge');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
  mkdirSync(join(directory, 'bin'));
  symlinkSync(program, join(directory, 'bin', 'unwedge'));
  const script = join(directory, 'script');
  writeFileSync(script, (await runBuilt(['completion', shell])).stdout);
  const env = { PATH: `${join(directory, 'bin')}:${process.env['PATH']}`, HOME: directory, TERM: 'dumb' };
  return { directory, script, env };
}

describe('completion', () => {
  it('[L-7] knows every command and every option of its table', async () => {
    expect(await suggestions('')).toEqual(Object.keys(commands));
    for (const name of Object.keys(commands)) {
      const options = Object.keys(optionsOf(await loadCommand(name))).map((option) => `--${option}`);
      expect(await suggestions(name, '--')).toEqual(options);
    }
  });

  it.each(['bash', 'zsh', 'fish'])('[L-7] knows in %s each command that --help lists', async (shell) => {
    const { stdout: help } = await call(['--help', '--json']);
    const listed = (JSON.parse(help) as { commands: { name: string }[] }).commands.map(({ name }) => name);
    for (const name of ['probe', 'cancel', 'letters', 'incident', 'replay']) expect(listed).toContain(name);
    const known = await suggestions('');
    for (const name of listed) expect(known).toContain(name);
    // The scripts hold no list that could lack one: they ask.
    const { stdout: script } = await call(['completion', shell]);
    expect(script).toContain('completion --suggest -- ');
  });

  it.skipIf(!hasSqlite)('[L-7] [O-13] completes what an order may name', async () => {
    const path = await databaseWith(failed(1, { integration: 'kb' }));
    for (const name of ['probe', 'incident', 'restart'])
      expect([name, await suggestions(name, `--db=${path}`, '')]).toEqual([name, ['kb']]);
    for (const name of ['cancel', 'letters', 'why'])
      expect([name, await suggestions(name, `--db=${path}`, '')]).toEqual([name, ['']]);
  });

  it('[L-7] completes what a value or an operand may be', async () => {
    expect(await suggestions('st')).toEqual(['status']);
    expect(await suggestions('help', 'al')).toEqual(['alerts']);
    expect(await suggestions('mcp', '--retry', 'a')).toEqual(['always']);
    expect(await suggestions('mcp', '--retry=n')).toEqual(['--retry=never']);
    expect(await suggestions('completion', 'f')).toEqual(['fish']);
    expect(await suggestions('status', '--db', '')).toEqual([':files']);
    expect(await suggestions('agent', '--cwd', '')).toEqual([':directories']);
    expect(await suggestions('repair', 'x')).toEqual([':files']);
    expect(await suggestions('run', '--timeout', '')).toEqual(['']);
  });

  it('[L-7] leaves the command line of somebody else to the shell', async () => {
    expect(await suggestions('run', '--', 'n')).toEqual([':commands']);
    expect(await suggestions('run', '--', 'node', '--db', '')).toEqual([':files']);
    expect(await suggestions('mcp', '--name', 'kb', 'npx', '-')).toEqual([':files']);
  });

  it.skipIf(!hasSqlite)(
    '[L-7] knows the integrations of the database, and no name that a shell would break',
    async () => {
      const path = await databaseWith(
        ...['kb', 'api:fallback', 'two words', 'q"u$(x)'].map((integration, at) => failed(at, { integration })),
      );
      expect(await suggestions('report', '--db', path, '--integration', '')).toEqual(['api:fallback', 'kb']);
      expect(await suggestions('restart', `--db=${path}`, 'k')).toEqual(['kb']);
      expect(await suggestions('--db', path, 'restart', 'a')).toEqual(['api:fallback']);
      expect(await suggestions('restart', '--db', '/nonexistent', '')).toEqual(['']);
    },
  );

  it('[L-1] names a shell it does not know', async () => {
    const zhs = await call(['completion', 'zhs']);
    expect(zhs.code).toBe(2);
    expect(zhs.stderr).toContain('did you mean zsh?');
    const bare = await call(['completion']);
    expect(bare.code).toBe(2);
    expect(bare.stderr).toContain('bash, zsh, fish');
  });

  it.skipIf(missing('bash'))('[L-7] works in bash, also where it breaks words at = and :', async () => {
    const { directory, script, env } = await surroundings('bash');
    const path = join(directory, 'a database.sqlite');
    writeFileSync(path, '');
    const complete = (line: string, words: string[]) => {
      const given = words.map((word) => `'${word}'`).join(' ');
      const code = `source '${script}'; COMP_LINE='${line}'; COMP_POINT=${line.length}; COMP_WORDS=(${given}); COMP_CWORD=${words.length - 1}; cd '${directory}'; _unwedge; printf '%s\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', code], { env, encoding: 'utf8' });
      return { stdout, stderr };
    };
    expect(complete('unwedge st', ['unwedge', 'st'])).toEqual({ stdout: 'status\n', stderr: '' });
    expect(complete('unwedge mcp --retry=al', ['unwedge', 'mcp', '--retry', '=', 'al'])).toEqual({
      stdout: 'always\n',
      stderr: '',
    });
    expect(complete('unwedge mcp --retry=', ['unwedge', 'mcp', '--retry', '='])).toMatchObject({
      stdout: '=safe\n=always\n=never\n',
    });
    expect(complete('unwedge status --db a', ['unwedge', 'status', '--db', 'a'])).toMatchObject({
      stdout: 'a database.sqlite\n',
    });
  });

  it.skipIf(missing('zsh'))('[L-7] works in zsh', async () => {
    const { script, env } = await surroundings('zsh');
    const code = `compdef() { print -r -- "compdef $*" }
source '${script}'
_describe() { print -rl -- "\${(@P)3}" }
_files() { print -r -- files }
compset() { }
words=(unwedge mcp --retry 'a'); CURRENT=4; PREFIX=a; _unwedge
words=(unwedge status --db ''); CURRENT=4; PREFIX=; _unwedge`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', code], { env, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'compdef _unwedge unwedge\nalways:\nfiles\n', stderr: '' });
  });

  it.skipIf(missing('fish'))('[L-7] works in fish', async () => {
    const { directory, script, env } = await surroundings('fish');
    writeFileSync(join(directory, 'kept.sqlite'), '');
    const code = `cd '${directory}'; source '${script}'; complete -C 'unwedge st'; complete -C 'unwedge mcp --retry=al'; complete -C 'unwedge status --db k'`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', code], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout.split('\n').map((line) => line.split('\t', 1)[0])).toEqual([
      'status',
      '--retry=always',
      'kept.sqlite',
      '',
    ]);
  });
});
