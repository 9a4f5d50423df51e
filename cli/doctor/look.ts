import { accessSync, constants } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { messageOf } from '../../src/policy/failures/face.ts';
import { shellWord } from '../../src/policy/text/face.ts';
import { KnownSecrets, createTextRedactor } from '../../src/redaction/face.ts';
import { agentEnvironment } from '../install/ownLauncher.ts';
import type { Io } from '../io.ts';
import { checkConfiguration } from './configuration.ts';
import { checkDatabase } from './database.ts';
import {
  type Check,
  type DoctorWorld,
  type Finding,
  type Subject,
  type ToldFinding,
  fail,
  ok,
  warning,
} from './finding.ts';
import { checkInstallation } from './installation.ts';
import { checkProcesses } from './processes.ts';
import { ownCommand, told, typed } from '../ownCommand.ts';

const checks: Readonly<Record<Subject, Check>> = {
  live: async (world) => (await import('./live.ts')).checkLive(world),
  installation: checkInstallation,
  database: checkDatabase,
  processes: checkProcesses,
  configuration: checkConfiguration,
  // It needs the parsers of others, which a broken installation may lack.
  agents: async (world) => (await import('./agents.ts')).checkAgents(world),
  system: checkSystem,
};

/** Arguments that say what is looked at. */
interface LookArgs {
  readonly db: string | undefined;
  readonly config: string | undefined;
  readonly probe: boolean;
  readonly all: boolean;
}

/** Looks at subjects, one after the other: a check that fails says nothing of the others. Known secrets are taken out; commands are those of a shell here. */
export async function look(
  subjects: readonly Subject[],
  world: DoctorWorld,
  io: Pick<Io, 'env'>,
): Promise<ToldFinding[]> {
  const secrets = new KnownSecrets(io.env);
  if (world.db !== undefined) secrets.learn({ store: world.db });
  const redactor = createTextRedactor(secrets);
  const shell = { own: ownCommand(world) };
  const said = (summary: string): string => told(redactor.text(summary), shell);
  const clean = (text: string | undefined) => (text === undefined ? undefined : typed(redactor.text(text), shell));
  const findings: ToldFinding[] = [];
  for (const subject of subjects) {
    for (const { summary, fix, next, ...rest } of await lookAtOne(subject, world))
      findings.push({ subject, ...rest, summary: said(summary), fix: clean(fix), next: clean(next) });
  }
  return findings;
}

/** Returns the world of this process. */
export function worldOf({ db, config, probe, all }: LookArgs, io: Io): DoctorWorld {
  return {
    env: agentEnvironment(io.env),
    home: io.env['HOME'] || homedir(),
    cwd: process.cwd(),
    tmp: tmpdir(),
    uid: process.getuid?.(),
    nodeVersion: process.versions.node,
    program: process.argv[1] ?? process.execPath,
    limits: limits(),
    now: io.now(),
    db,
    config,
    probe,
    thorough: all,
    signal: io.signal,
    access: accessSync,
  };
}

function limits(): DoctorWorld['limits'] {
  const { userLimits = {} } = process.report.getReport() as {
    readonly userLimits?: Readonly<Record<string, { readonly soft: unknown }>>;
  };
  const soft = (name: string): number | undefined => {
    const limit = userLimits[name]?.soft;
    return typeof limit === 'number' ? limit : undefined;
  };
  return { openFiles: soft('open_files'), processes: soft('max_user_processes') };
}

async function lookAtOne(subject: Subject, world: DoctorWorld): Promise<readonly Finding[]> {
  try {
    return await checks[subject](world);
  } catch (error) {
    return [{ id: subject, status: 'unknown', summary: `the ${subject} could not be looked at: ${messageOf(error)}` }];
  }
}

/** Each program takes three of them, and each client one or two. */
const leastFiles = 1024;
const leastProcesses = 256;

/** Limits of the system, and room for temporary files. */
async function checkSystem(world: DoctorWorld): Promise<readonly Finding[]> {
  return [
    limitFinding('limit.files', 'open files', world.limits.openFiles, leastFiles, 'ulimit -n 4096'),
    limitFinding('limit.processes', 'processes of this user', world.limits.processes, leastProcesses, 'ulimit -u 4096'),
    temporaryFinding(world),
  ];
}

function limitFinding(id: string, what: string, limit: number | undefined, least: number, fix: string): Finding {
  if (limit === undefined) return ok(id, `no limit on ${what}`);
  if (limit >= least) return ok(id, `up to ${limit} ${what}`);
  return warning(id, `only ${limit} ${what} are allowed: servers may fail to start`, fix);
}

function temporaryFinding({ tmp, access }: DoctorWorld): Finding {
  try {
    access(tmp, constants.W_OK | constants.X_OK);
    return ok('tmp', `temporary files go to ${tmp}`);
  } catch {
    return fail('tmp', `${tmp}, for temporary files, cannot be written to`, `export TMPDIR=${shellWord('/tmp')}`);
  }
}
