import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemFiles } from '../../install/files.ts';
import { install } from '../../install/install.ts';
import type { Launcher } from '../../install/launcher.ts';
import type { InstallRecord } from '../../install/record.ts';
import type { FileReport, InstallReport, InstallRequest } from '../../install/report.ts';
import type { World } from '../../install/world.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const node = '/usr/bin/node';

/** A machine with a home and a project of the test's own. Paths are below `root`: `home/…`, `work/…`. */
export function startInstall(given: Partial<World> = {}) {
  const root = temporaryDirectory();
  const at = (path: string): string => join(root, path);
  const script = at('lib/unwedge/dist/cli/main.js');
  const launcher: Launcher = { command: node, args: [script] };
  const world: World = {
    files: systemFiles,
    env: {},
    home: at('home'),
    cwd: at('work'),
    platform: 'linux',
    uid: process.getuid?.(),
    systemRoot: at('system'),
    launcher,
    stateDirectory: at('state'),
    now: () => Date.now(),
    pause: async () => undefined,
    signal: new AbortController().signal,
    ...given,
  };
  const write = (path: string, content: string | Buffer, mode = 0o600): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
    chmodSync(at(path), mode);
  };
  write('lib/unwedge/dist/cli/main.js', '');
  mkdirSync(at('work/.git'), { recursive: true });
  mkdirSync(at('home'), { recursive: true });

  async function run(request: Partial<InstallRequest> = {}, other: Partial<World> = {}): Promise<InstallReport> {
    return install(
      { ...world, ...other },
      { agents: ['claude'], withProject: false, withCodexHooks: false, undo: false, dryRun: false, ...request },
    );
  }

  return {
    root,
    at,
    world,
    script,
    /** Our words behind the command and in front of a server, as JSON. @param more - options, each with a comma behind it */
    front: (name: string, more = ''): string => `"${script}", "mcp", "--name", "${name}", ${more}"--"`,
    write,
    read: (path: string): string => readFileSync(at(path), 'utf8'),
    exists: (path: string): boolean => existsSync(at(path)),
    /** Files that are on record. */
    recorded: (): readonly string[] =>
      Object.keys((JSON.parse(readFileSync(at('state/install.json'), 'utf8')) as InstallRecord).files),
    run,
    undo: (request: Partial<InstallRequest> = {}) => run({ ...request, undo: true }),
    /** The report of the only file there is one of. */
    async only(request: Partial<InstallRequest> = {}): Promise<FileReport> {
      const { files } = await run(request);
      const [file] = files;
      if (file === undefined || files.length > 1) throw new Error(`${files.length} files are reported`);
      return file;
    },
  };
}

/** What is done with each entry, as `action name: why`. */
export function said({ entries }: FileReport): readonly string[] {
  return entries.map(({ action, name, why }) => `${action} ${name}${why === undefined ? '' : `: ${why}`}`);
}

/** Entries of a file of servers. */
export const servers = (entries: object): string => `${JSON.stringify({ mcpServers: entries }, null, 2)}\n`;
