import { describeDriver } from '../../reader/describeDriver.ts';
import { localProgram, packageAround, projectOf } from '../ownCommand.ts';
import { ownVersion } from './ownVersion.ts';
import { shellWord } from '../../src/policy/text/face.ts';
import { type Check, type DoctorWorld, type Finding, fail, ok, warning } from './finding.ts';
import { findProgram } from './findProgram.ts';

/** Node, unwedge itself, which unwedge others start, and the SQLite driver. */
export const checkInstallation: Check = async (world) => [
  nodeFinding(world.nodeVersion),
  pathFinding(world),
  await driverFinding(world),
];

/** As package.json has it. */
const leastNode = [20, 19] as const;

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1]);
  if (!isOld) return ok('node', `Node ${version}`);
  return fail('node', `Node ${version} is too old: unwedge needs ${leastNode.join('.')} or newer`, 'nvm install --lts');
}

function pathFinding({ env, cwd, program }: DoctorWorld): Finding {
  const own = ownVersion();
  const first = findProgram('unwedge', { env, cwd });
  if (!first.ok) {
    const local = localProgram(program);
    // Its project, or its crontab, starts it by that path.
    if (local !== undefined) {
      const summary = `unwedge ${own}, at ${local}; it is not on PATH, so what starts it by its name alone finds none`;
      return ok('path', summary);
    }
    return warning(
      'path',
      `unwedge ${own} is not on PATH: what agents and shells start by that name finds none`,
      `npm install --global unwedge@${own}`,
    );
  }
  const there = packageAround(first.path);
  if (there !== undefined && there.directory === packageAround(program)?.directory)
    return ok('path', `unwedge ${own}, at ${first.path}`);
  if (there?.version === own) return ok('path', `unwedge ${own}; another copy of it is first on PATH, ${first.path}`);
  const which = there === undefined ? 'something else' : `version ${there.version}`;
  return warning(
    'path',
    `the unwedge that is first on PATH is ${which}, not ${own}: ${first.path}`,
    `npm install --global unwedge@${own}`,
  );
}

async function driverFinding({ program }: DoctorWorld): Promise<Finding> {
  const driver = await describeDriver();
  if (driver.ok) {
    const version = driver.version === undefined ? '' : ` ${driver.version}`;
    return ok('sqlite', `SQLite ${driver.sqlite}, by ${driver.driver}${version}`);
  }
  const directory = packageAround(program)?.directory;
  const where = directory === undefined ? '' : `cd ${shellWord(projectOf(directory))} && `;
  return fail('sqlite', `${driver.reason}; Node 22.13 and newer bring one`, `${where}${driver.command}`);
}
