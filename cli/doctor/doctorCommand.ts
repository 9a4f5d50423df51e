import { wrapWords } from '../../src/policy/text/face.ts';
import type { ArgsOf } from '../command.ts';
import type { form } from './command.ts';
import type { Io } from '../io.ts';
import { ownVersion } from './ownVersion.ts';
import { sanitize, toJson } from '../sanitize.ts';
import { createStyle, helpWidth, nextLines, type Style } from '../text.ts';
import { databaseOfConfiguration } from './configuration.ts';
import { type DoctorWorld, type Finding, type FindingStatus, subjects, type ToldFinding } from './finding.ts';
import { look, worldOf } from './look.ts';

/** Changes when fields of the JSON are taken away or get another meaning. */
const schemaVersion = 1;

type DoctorArgs = ArgsOf<typeof form>;

/** Does what `unwedge doctor` was asked to do. Gives the exit code. */
export async function run(args: DoctorArgs, io: Io): Promise<number> {
  // A configuration may be a module that leaves timers behind.
  io.endWithCommand?.();
  const given = worldOf(args, io);
  const world: DoctorWorld = { ...given, db: given.db ?? (await databaseOfConfiguration(given)) };
  const findings = await look(subjects, world, io);
  const status = worst(findings);
  if (args.json) io.stdout.write(toJson(dataOf(findings, status, world)));
  else io.stdout.write(doctorText(findings, { all: args.all, home: world.home }, io));
  return status === 'fail' ? 1 : status === 'unknown' ? 2 : 0;
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
export function shortened(text: string, home: string): string {
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
