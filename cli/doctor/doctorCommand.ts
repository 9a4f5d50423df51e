import { accessSync, constants } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { shellWord, wrapWords } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { KnownSecrets, createTextRedactor } from '../../src/redaction/face.ts';
import type { ArgsOf } from '../command.ts';
import type { form } from './command.ts';
import type { Io } from '../io.ts';
import { ownVersion } from './ownVersion.ts';
import { sanitize, toJson } from '../sanitize.ts';
import { createStyle, helpWidth, nextLines, type Style } from '../text.ts';
import { agentEnvironment } from '../install/ownLauncher.ts';
import { checkConfiguration, databaseOfConfiguration } from './configuration.ts';
import { checkDatabase } from './database.ts';
import {
  type Check,
  type DoctorWorld,
  type Finding,
  type FindingStatus,
  type Subject,
  subjects,
  type ToldFinding,
  fail,
  ok,
  warning,
} from './finding.ts';
import { checkInstallation } from './installation.ts';
import { checkProcesses } from './processes.ts';

/** Changes when fields of the JSON are taken away or get another meaning. */
const schemaVersion = 1;

type DoctorArgs = ArgsOf<typeof form>;

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

/** Does what `unwedge doctor` was asked to do. Gives the exit code. */
export async function run(args: DoctorArgs, io: Io): Promise<number> {
  // A configuration may be a module that leaves timers behind.
  io.endWithCommand?.();
  const given = worldOf(args, io);
  const world: DoctorWorld = { ...given, db: given.db ?? (await databaseOfConfiguration(given)) };
  const secrets = new KnownSecrets(io.env);
  if (world.db !== undefined) secrets.learn({ store: world.db });
  const redactor = createTextRedactor(secrets);
  const findings: ToldFinding[] = [];
  for (const subject of subjects) {
    for (const { summary, fix, next, ...rest } of await look(subject, world)) {
      const clean = (text: string | undefined) => (text === undefined ? undefined : redactor.text(text));
      findings.push({ subject, ...rest, summary: redactor.text(summary), fix: clean(fix), next: clean(next) });
    }
  }
  if (findings.some(({ id, status }) => id === 'path' && status !== 'ok')) startByNpx(findings);
  const status = worst(findings);
  if (args.json) io.stdout.write(toJson(dataOf(findings, status, world)));
  else io.stdout.write(doctorText(findings, { all: args.all, home: world.home }, io));
  return status === 'fail' ? 1 : status === 'unknown' ? 2 : 0;
}

/** A fix is pasted into a shell, which does not find `unwedge`, or another one, under its name. */
function startByNpx(findings: ToldFinding[]): void {
  for (const [at, finding] of findings.entries()) {
    const byNpx = (text: string | undefined) => text?.replace(/^unwedge /, `npx unwedge@${ownVersion()} `);
    findings[at] = { ...finding, fix: byNpx(finding.fix), next: byNpx(finding.next) };
  }
}

function worldOf({ db, config, probe, all }: DoctorArgs, io: Io): DoctorWorld {
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

/** A check that fails says nothing of the others. */
async function look(subject: Subject, world: DoctorWorld): Promise<readonly Finding[]> {
  try {
    return await checks[subject](world);
  } catch (error) {
    return [{ id: subject, status: 'unknown', summary: `the ${subject} could not be looked at: ${messageOf(error)}` }];
  }
}

const byWeight = ['fail', 'unknown', 'warning', 'ok'] as const;

function worst(findings: readonly Finding[]): Finding['status'] {
  return byWeight.find((status) => findings.some((finding) => finding.status === status)) ?? 'ok';
}

function dataOf(
  findings: readonly ToldFinding[],
  status: Finding['status'],
  { now, nodeVersion }: DoctorWorld,
): object {
  return {
    schemaVersion,
    generatedAt: new Date(now).toISOString(),
    version: ownVersion(),
    node: nodeVersion,
    status,
    findings: findings.map(({ fix, ...finding }) => ({ ...finding, fix: fix ?? null })),
  };
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

const signs: Readonly<Record<FindingStatus, string>> = { fail: '✗', unknown: '?', warning: '!', ok: '✓' };
const order: readonly FindingStatus[] = ['fail', 'unknown', 'warning', 'ok'];

/** Findings for people, the worst first, each with its fix below it; a fix is never broken, so that it can be copied. */
function doctorText(
  findings: readonly ToldFinding[],
  { all, home }: { readonly all: boolean; readonly home: string },
  io: Io,
): string {
  const style = createStyle(io);
  const width = helpWidth(io.columns);
  const shown = order.flatMap((status) =>
    findings.filter((each) => each.status === status && (all || status !== 'ok')),
  );
  const lines = shown.flatMap(({ status, summary, fix, next }) => {
    const [first = '', ...others] = wrapWords(shortened(sanitize(summary), home), width - 2);
    return [
      `${painted(status, style)} ${first}`,
      ...others.map((line) => `  ${line}`),
      ...(fix === undefined ? [] : [`  ${style.dim('fix:')} ${sanitize(fix)}`]),
      ...(next === undefined ? [] : nextLines(sanitize(next), width, style)),
    ];
  });
  return `${[...lines, ...(lines.length === 0 ? [] : ['']), counts(findings, all)].join('\n')}\n`;
}

function painted(status: FindingStatus, { red, yellow, green }: Style): string {
  const paint = { fail: red, unknown: yellow, warning: yellow, ok: green }[status];
  return paint(signs[status]);
}

/** The home of the user is long and known; a fix names it as it is. */
function shortened(text: string, home: string): string {
  if (home.length <= 1) return text;
  // Code is copied: a path of code is the whole one.
  const parts = text.split('`').map((part, index) => (index % 2 === 1 ? part : part.replaceAll(`${home}/`, '~/')));
  return parts.join('`');
}

function counts(findings: readonly ToldFinding[], all: boolean): string {
  const count = (status: FindingStatus): number => findings.filter((each) => each.status === status).length;
  const [broken, unknown, warnings, ok] = order.map(count);
  const parts = [
    `${broken} broken`,
    ...(unknown === 0 ? [] : [`${unknown} not looked at`]),
    `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
    `${ok} in order${all ? '' : ' (--all shows them)'}`,
  ];
  return `${parts.join(', ')}.`;
}
