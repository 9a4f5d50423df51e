import { fileURLToPath } from 'node:url';
import { type Case, defineSuite, type Target } from '../harness/suite.ts';
import { passOutput } from './output.ts';
import { type CommandLine, startToEnd, unwedge } from './processes.ts';

const run = 'run -- true';
const storeless = 'run -- true, no store';
const hook = 'hook -- true';
const version = 'version';
const help = '--help';
const crash = 'hook that crashes';
const output = 'run, 200 MB of output';
const bytes = 200_000_000;

const node: CommandLine = [process.execPath, '-e', '0'];
const plainPipe = fileURLToPath(new URL('./plainPipe.js', import.meta.url));
/** A start of a process in ten lines of Node. */
const spawning: CommandLine = [process.execPath, plainPipe, 'true'];
const crashing = ['sh', '-c', 'kill -SEGV $$'];

/** What a command costs behind `unwedge run` and `unwedge hook`, against the start of Node without which there is neither. */
export const cliSuite = defineSuite({
  name: 'cli',
  about:
    'What it costs to have a command run by `unwedge`: whole processes, from their start to their end, against `node -e 0`, which does nothing ' +
    'but start; output against a Node program of ten lines that pipes it.',
  baseline: 'node',
  subjects: [
    {
      name: 'unwedge',
      about: 'the built command line, with a store of its own',
      cases: {
        [run]: startToEnd(() => [unwedge('run', '--', 'true')]),
        [storeless]: startToEnd(() => [unwedge('run', '--db', ':memory:', '--', 'true')]),
        [hook]: startToEnd(() => [unwedge('hook', '--', 'true')]),
        [version]: startToEnd(() => [unwedge('version')]),
        [help]: startToEnd(() => [unwedge('--help')]),
        // Each under a name of its own: after five in a row it would not be run.
        [crash]: startToEnd((at) => [unwedge('hook', '--name', `crash-${at}`, '--', ...crashing)]),
        [output]: passOutput((...command) => unwedge('run', '--', ...command), bytes),
      },
    },
    {
      name: 'node',
      about: '`node -e 0`; for output, spawn() and pipe()',
      cases: {
        ...each([run, storeless, hook, version, help, crash], () => startToEnd(() => [node])),
        [output]: passOutput((...command) => [process.execPath, plainPipe, ...command], bytes),
      },
    },
    {
      name: 'spawn',
      about: 'ten lines of Node that start the command and pipe its output',
      cases: each([run, storeless, hook], () => startToEnd(() => [spawning])),
    },
    {
      name: 'timeout',
      about: '`timeout 5` of coreutils around the command, and the start of Node after it',
      cases: each([run, hook], () => startToEnd(() => [['timeout', '5', 'true'], node])),
    },
  ],
  targets: [
    startTarget('CPU of run of `true`, against node -e 0', run, 2.5),
    startTarget('CPU of run of `true` without a store, against node -e 0', storeless, 2),
    startTarget('CPU of hook of `true`, against node -e 0', hook, 1.5),
    startTarget('CPU of version, against node -e 0', version, 1.3),
    startTarget('CPU of --help, against node -e 0', help, 1.3),
    {
      says: '200 MB of output, against a plain pipe through Node',
      of: { subject: 'unwedge', case: output, metric: 'wall' },
      over: { subject: 'node', case: output, metric: 'wall' },
      atMost: 2,
    },
    {
      says: 'peak memory at its end, against half of it',
      of: { subject: 'unwedge', case: output, metric: 'peak memory, end/half' },
      by: 'median',
      atMost: 1.1,
    },
  ],
});

function each(names: readonly string[], caseOf: () => Case): Record<string, Case> {
  return Object.fromEntries(names.map((name) => [name, caseOf()]));
}

function startTarget(says: string, of: string, atMost: number): Target {
  const figure = (subject: string) => ({ subject, case: of, metric: 'cpu' });
  return { says, of: figure('unwedge'), over: figure('node'), atMost };
}
