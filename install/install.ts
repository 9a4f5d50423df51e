import { join } from 'node:path';
import { agents } from './agents/agents.ts';
import type { AgentName, ConfigFile } from './configFile.ts';
import { FileJob } from './fileJob.ts';
import type { FileReport, InstallReport, InstallRequest } from './report.ts';
import { InstallState } from './state.ts';
import { projectFolder, type World } from './world.ts';

/**
 * Puts unwedge in front of what agents have configured, or takes it away again. A file is changed as a whole or not at all; what cannot be
 * changed is in the report. Ends between two files when the signal is aborted.
 * @throws errors that are bugs, and the reason of the signal.
 */
export async function install(world: World, request: InstallRequest): Promise<InstallReport> {
  const { undo, dryRun } = request;
  const state = new InstallState(world.files, world.stateDirectory);
  const outcomes: FileReport[] = [];
  for (const file of filesOf(world, request, state)) {
    world.signal.throwIfAborted();
    const outcome = await new FileJob(world, request, state, file).run();
    if (outcome !== undefined) outcomes.push(outcome);
  }
  const changed = new Set(outcomes.filter(({ status }) => status === 'changed').map(({ agent }) => agent));
  return {
    undo,
    dryRun,
    files: outcomes,
    next: [...new Set([...changed].flatMap((name) => agents[name].next))],
    notes: undo ? [] : [...notesOf(world), ...notesOfProject(outcomes), ...notesOfSystem(world, changed)],
  };
}

/** Each file once, however many ways lead to it. */
function filesOf(world: World, { agents: names, undo }: InstallRequest, state: InstallState): readonly ConfigFile[] {
  const project = projectFolder(world);
  const known = names.flatMap((name) => agents[name].files(world, project));
  const recorded = undo ? Object.entries(state.read().files) : [];
  const all = [
    ...known,
    ...recorded.filter(([, { file }]) => names.includes(file.agent)).map(([path, { file }]) => ({ ...file, path })),
  ];
  const byPath = new Map<string, ConfigFile>();
  for (const file of all) {
    const path = realPath(world, file.path);
    if (!byPath.has(path)) byPath.set(path, file);
  }
  return [...byPath.values()];
}

function realPath({ files }: World, path: string): string {
  try {
    return files.realPath(path) ?? path;
  } catch {
    return path;
  }
}

/** Notes whether this very copy of the program, which wrapped ones start, stays where it is. */
function notesOf({ launcher, files }: World): readonly string[] {
  const [script] = launcher.args;
  if (script === undefined) return [];
  const better = 'Better: `npm install -g unwedge`, then `unwedge install` again.';
  // Caches of npx, of `pnpm dlx` and `yarn dlx`, of bunx.
  if (/[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*)[\\/]/.test(script))
    return [`unwedge runs from the cache of npx or its like, and what is wrapped needs it there. ${better}`];
  const [, folder] = /^(.+?)[\\/]node_modules[\\/]/.exec(script) ?? [];
  // pnpm, Yarn and Bun keep what is installed globally in a folder that looks like a project.
  const isGlobal = folder === undefined || /[\\/]global(?:[\\/]|$)/.test(folder);
  const isInProject = !isGlobal && files.facts(join(folder, 'package.json')) !== undefined;
  return isInProject ? [`unwedge runs from the project ${folder}, and what is wrapped needs it there. ${better}`] : [];
}

/** A file that others have too starts what they have under our name: a copy in `node_modules` is found by npm alone. */
function notesOfProject(files: readonly FileReport[]): readonly string[] {
  if (!files.some(({ scope, status }) => scope === 'project' && status === 'changed')) return [];
  return [
    'Files of the project start `unwedge` by its name: it has to be on the PATH of everyone who uses them (`npm install --global unwedge`); one in node_modules is not found.',
  ];
}

const systems: Partial<Record<NodeJS.Platform, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' };

/** Names the agents that were never run behind unwedge on this system. */
function notesOfSystem({ platform }: World, changed: ReadonlySet<AgentName>): readonly string[] {
  const untried = [...changed].map((name) => agents[name]).filter(({ triedOn }) => !triedOn.includes(platform));
  if (untried.length === 0) return [];
  const names = untried.map(({ title }) => title).join(', ');
  const their = untried.length === 1 ? 'Its files are as its' : 'Their files are as their';
  return [`Never run behind unwedge on ${systems[platform] ?? platform}: ${names}. ${their} makers document them.`];
}
