import { homedir } from 'node:os';
import { agentNames } from '../../install/configFile.ts';
import { systemFiles } from '../../install/files.ts';
import { install } from '../../install/install.ts';
import type { InstallReport } from '../../install/report.ts';
import type { InstallRequest } from '../../install/request.ts';
import { describeDriver } from '../../store/describeDriver.ts';
import { installDirectory } from '../../store/paths.ts';
import { agentEnvironment } from '../doctor/agentEnvironment.ts';
import { CommandError, unknown, UsageError } from '../errors.ts';
import { type Io, pause } from '../io.ts';
import { toJson } from '../sanitize.ts';
import { installText } from './installText.ts';
import type { InstallArgs } from './options.ts';
import { ownLauncher } from './ownLauncher.ts';

/** Does what `unwedge install` was asked to do. Gives the exit code. */
export async function installCommand(args: InstallArgs, io: Io): Promise<number> {
  const request = requestOf(args);
  const { env } = io;
  const uid = process.getuid?.();
  if (uid === 0 && env['SUDO_UID'] !== undefined) {
    throw new CommandError('Run it as yourself, without sudo: these files are yours. Nothing was done.');
  }
  const home = env['HOME'] || homedir();
  const world = {
    files: systemFiles,
    env: agentEnvironment(env),
    home,
    cwd: process.cwd(),
    platform: process.platform,
    uid,
    launcher: ownLauncher(env),
    stateDirectory: installDirectory(env),
    now: io.now,
    pause: (ms: number) => pause(io, ms),
    signal: io.signal,
  };
  const done = await orInterrupted(install(world, request), io);
  const isWrapped = !done.undo && done.files.some(({ status }) => status === 'changed');
  const report = isWrapped ? { ...done, notes: [...done.notes, ...(await storeNotes())] } : done;
  io.stdout.write(args.json ? toJson(report) : installText(report, request, home, io));
  return report.files.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** Warns that wrapped programs work without a store: nobody can look at them then. */
async function storeNotes(): Promise<readonly string[]> {
  const driver = await describeDriver();
  return driver.ok ? [] : [`What happens cannot be recorded: ${driver.reason}. Fix: ${driver.fix}.`];
}

/** @throws UsageError */
function requestOf(args: InstallArgs): InstallRequest {
  const [word] = args.operands;
  if (args.all && word !== undefined) throw new UsageError(`Expected an agent or \`--all\`, got both`);
  if (!args.all && word === undefined) {
    throw new UsageError(`Missing AGENT; it is one of ${agentNames.join(', ')}, or --all`);
  }
  const agent = agentNames.find((name) => name === word);
  if (word !== undefined && agent === undefined) throw unknown('agent', word, agentNames);
  return {
    agents: agent === undefined ? agentNames : [agent],
    withProject: args.project,
    withCodexHooks: args['codex-hooks'],
    undo: args.undo,
    dryRun: args['dry-run'],
  };
}

async function orInterrupted(work: Promise<InstallReport>, { signal }: Io): Promise<InstallReport> {
  try {
    return await work;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandError('Interrupted; each file is whole, as it was or changed. Run it again, or with --undo.', {
      cause: error,
    });
  }
}
