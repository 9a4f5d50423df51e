import { constants } from 'node:fs';
import { shellWord } from '../../policy/shellWord.ts';
import type { Check, DoctorWorld, Finding } from './finding.ts';

/** Each program takes three of them, and each client one or two. */
const leastFiles = 1024;
const leastProcesses = 256;

/** Limits of the system, and room for temporary files. */
export const checkSystem: Check = async (world) => [
  limitFinding('limit.files', 'open files', world.limits.openFiles, leastFiles, 'ulimit -n 4096'),
  limitFinding('limit.processes', 'processes of this user', world.limits.processes, leastProcesses, 'ulimit -u 4096'),
  temporaryFinding(world),
];

function limitFinding(id: string, what: string, limit: number | undefined, least: number, fix: string): Finding {
  if (limit === undefined) return { id, status: 'ok', summary: `no limit on ${what}` };
  if (limit >= least) return { id, status: 'ok', summary: `up to ${limit} ${what}` };
  return { id, status: 'warning', summary: `only ${limit} ${what} are allowed: servers may fail to start`, fix };
}

function temporaryFinding({ tmp, access }: DoctorWorld): Finding {
  try {
    access(tmp, constants.W_OK | constants.X_OK);
    return { id: 'tmp', status: 'ok', summary: `temporary files go to ${tmp}` };
  } catch {
    const summary = `${tmp}, for temporary files, cannot be written to`;
    return { id: 'tmp', status: 'fail', summary, fix: `export TMPDIR=${shellWord('/tmp')}` };
  }
}
