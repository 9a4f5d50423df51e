import { delimiter, isAbsolute, join } from 'node:path';
import { agents } from './agents/agents.ts';
import type { ConfigFile } from './configFile.ts';
import { unifiedDiff } from './diff.ts';
import { readDocument } from './document.ts';
import { bareLauncher } from './launcher.ts';
import { type FilePlan, hashOf, planUnwrap, planWrap } from './planFile.ts';
import { findPrograms } from './programs.ts';
import type { FileRecord } from './record.ts';
import type { FileReport, InstallRequest } from './report.ts';
import type { InstallState } from './state.ts';
import { DocumentError } from './tree.ts';
import { projectFolder, type World } from './world.ts';
import { hookIdentity, type Wrapping } from './wrapFile.ts';
import { ChangedMeanwhile, isInRepository, LockedError, whyNotWritable, writePlanned } from './writeFile.ts';

/** A file that somebody else writes is planned anew, so many times. */
const mostTries = 5;

type Part = Omit<FileReport, 'agent' | 'path' | 'scope' | 'entries' | 'notes'> &
  Partial<Pick<FileReport, 'entries' | 'notes'>>;

/** Work on one file. */
export class FileJob {
  readonly #world: World;
  readonly #request: InstallRequest;
  readonly #state: InstallState;
  readonly #file: ConfigFile;

  constructor(world: World, request: InstallRequest, state: InstallState, file: ConfigFile) {
    this.#world = world;
    this.#request = request;
    this.#state = state;
    this.#file = file;
  }

  /** Undefined when there is nothing to say of it. */
  async run(): Promise<FileReport | undefined> {
    try {
      for (let tries = 0; tries < mostTries; tries++) {
        try {
          return await this.#try();
        } catch (error) {
          if (!(error instanceof ChangedMeanwhile)) throw error;
        }
      }
      return this.#report({ status: 'failed', why: 'it is written by another program all the time' });
    } catch (error) {
      if (error instanceof DocumentError || error instanceof LockedError)
        return this.#report({ status: 'failed', why: error.message });
      // A system call that failed; anything else is a bug and keeps its stack.
      if (error instanceof Error && 'syscall' in error) return this.#report({ status: 'failed', why: error.message });
      throw error;
    }
  }

  async #try(): Promise<FileReport | undefined> {
    const { files } = this.#world;
    const { undo, dryRun, withProject } = this.#request;
    const path = files.realPath(this.#file.path);
    const record = this.#state.read().files[path ?? this.#file.path];
    const before = path === undefined ? undefined : files.read(path);
    if (path === undefined || before === undefined) return this.#gone(record);
    if (before.toString('utf8').trim() === '') return undefined;
    const isAsked = this.#file.scope !== 'project' || withProject || (undo && record !== undefined);
    if (!isAsked) return this.#notAsked(before, record);

    const plan = this.#plan(before, record);
    const { entries, after, isExact } = plan;
    if (!undo && entries.some(({ action }) => action !== 'left')) {
      const why = this.#file.scope === 'project' ? whyNotByName(this.#world) : whyNotByPath(this.#world);
      if (why !== undefined) return this.#report({ status: 'failed', why });
    }
    if (after === undefined) {
      // Somebody else took out what was written.
      if (undo && record !== undefined && !dryRun) this.#state.note(path, undefined);
      return entries.length === 0 ? undefined : this.#report({ status: 'same', entries });
    }
    const why = whyNotWritable(this.#world, path);
    if (why !== undefined) return this.#report({ status: 'failed', why, entries: [] });
    const diff = unifiedDiff(this.#file.path, plan.document, readDocument(after, this.#file.format), plan.edits);
    const notes = this.#notes(path);
    if (dryRun) return this.#report({ status: 'changed', entries, diff, isExact, notes });
    const script = this.#launcher.args[0];
    const writing = { file: this.#file, path, before, record, plan: { ...plan, after }, isUndo: undo, script };
    const backup = await writePlanned(this.#world, this.#state, writing);
    return this.#report({ status: 'changed', entries, diff, isExact, backup, notes });
  }

  #plan(before: Buffer, record: FileRecord | undefined): FilePlan {
    const scripts = this.#scripts;
    if (!this.#request.undo) return planWrap(before, this.#file, this.#wrapping(scripts), record);
    const plan = planUnwrap(before, this.#file, record, scripts);
    if (record === undefined || plan.isExact === true || hashOf(before) !== record.after) return plan;
    // As we left it: what it was is known to the byte.
    const original = this.#state.kept(record.original);
    return original === undefined ? plan : { ...plan, after: original, original, isExact: true };
  }

  #wrapping(scripts: ReadonlySet<string>): Wrapping {
    const agent = agents[this.#file.agent];
    const project = projectFolder(this.#world);
    return {
      agent,
      rules: agent.rules?.(this.#world, project),
      launcher: this.#launcher,
      withRequestedHooks: this.#request.withCodexHooks,
      withGuard: this.#request.withGuard === true ? isOfGuard(this.#file) : undefined,
      isThere: (path) => this.#world.files.facts(path) !== undefined,
      isWindows: this.#world.platform === 'win32',
      scripts,
      elsewhere: this.#file.hooks === 'grouped' ? this.#hooksElsewhere(project) : new Map(),
    };
  }

  get #launcher() {
    return this.#file.scope === 'project' ? bareLauncher : this.#world.launcher;
  }

  get #scripts(): ReadonlySet<string> {
    return new Set([...this.#world.launcher.args, ...this.#state.read().scripts]);
  }

  /** Hooks of the agent's files that stay as they are, or get other words in front. */
  #hooksElsewhere(project: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const other of agents[this.#file.agent].files(this.#world, project)) {
      const isProject = other.scope === 'project';
      if (other.hooks === undefined || isProject === (this.#file.scope === 'project')) continue;
      const path = this.#world.files.realPath(other.path);
      if (path === undefined || path === this.#world.files.realPath(this.#file.path)) continue;
      try {
        const bytes = this.#world.files.read(path);
        if (bytes === undefined) continue;
        for (const each of findPrograms(readDocument(bytes, other.format), other)) {
          if ('program' in each) found.set(hookIdentity(each.event ?? '', each.program), other.path);
        }
      } catch (error) {
        if (!(error instanceof DocumentError)) throw error;
      }
    }
    return found;
  }

  /** A file that others have too: said when there is something in it to do. */
  #notAsked(before: Buffer, record: FileRecord | undefined): FileReport | undefined {
    const { entries, after } = this.#plan(before, record);
    if (after === undefined) return undefined;
    const count = entries.filter(({ action }) => action !== 'already' && action !== 'left').length;
    const why = `${count === 1 ? '1 entry' : `${count} entries`} of a file that others have too; with --project it is included`;
    return this.#report({ status: 'left', why });
  }

  #gone(record: FileRecord | undefined): FileReport | undefined {
    if (this.#request.withGuard === true && !this.#request.undo && isOfGuard(this.#file))
      return this.#report({
        // Some of all agents are not there.
        status: this.#request.agents.length === 1 ? 'failed' : 'left',
        why: 'it is not there; write `{}` into it for the guard',
      });
    if (!this.#request.undo || record === undefined) return undefined;
    if (!this.#request.dryRun) this.#state.note(this.#file.path, undefined);
    return this.#report({ status: 'same', why: 'it is gone' });
  }

  #notes(path: string): readonly string[] {
    if (this.#request.undo || this.#file.scope === 'project' || !isInRepository(this.#world, path)) return [];
    return ['It seems to be in a repository: the paths written into it are those of this machine.'];
  }

  #report(part: Part): FileReport {
    const { agent, path, scope } = this.#file;
    return { agent, path, scope, entries: [], notes: [], ...part };
  }
}

const isOfGuard = ({ hooks, format, scope }: ConfigFile): boolean =>
  hooks === 'grouped' && format === 'json' && scope === 'user';

/** Packages in archives, or with links that only the runtime of their package manager follows. */
const plugAndPlay = /\.zip[\\/]|[\\/](?:__virtual__|unplugged)[\\/]/;

const better = 'Install it for yourself: `npm install --global unwedge`, then run this again.';

/** Why an agent could not start this very copy of the program by its path; undefined when it can. */
function whyNotByPath({ launcher }: Pick<World, 'launcher'>): string | undefined {
  if (!launcher.args.some((script) => plugAndPlay.test(script))) return undefined;
  return `unwedge is installed by Plug'n'Play, so that Node alone cannot start it: servers would not start, and hooks would block nothing. ${better}`;
}

/**
 * Why an agent could not start this program by its name; undefined when it can, or when nothing is known of the PATH. Folders that are
 * relative count for nothing: an agent is started elsewhere.
 */
function whyNotByName({ env, files, platform }: Pick<World, 'env' | 'files' | 'platform'>): string | undefined {
  const path = env['PATH'] ?? env['Path'];
  if (path === undefined) return undefined;
  const isWindows = platform === 'win32';
  const names = isWindows ? ['.cmd', '.exe', '.bat'].map((end) => bareLauncher.command + end) : [bareLauncher.command];
  const runs = (program: string): boolean => {
    try {
      const facts = files.facts(program);
      return facts?.isFile === true && (isWindows || (facts.mode & 0o111) !== 0);
    } catch {
      // A folder that may not be read is passed over, as the system does.
      return false;
    }
  };
  const folders = path.split(isWindows ? ';' : delimiter).filter((folder) => isAbsolute(folder));
  const isThere = folders.some((folder) => names.some((name) => runs(join(folder, name))));
  if (isThere) return undefined;
  return `a file that others have too starts \`unwedge\` by its name, and that is not on the PATH (one in node_modules is found by npm alone): servers would not start, and hooks would block nothing. ${better}`;
}
