import type { Clock } from '../../src/policy/face.ts';
import { type Given, type Values, choice, having, integer, readOptions, text } from '../../src/policy/options/face.ts';
import { show } from '../../src/policy/text/face.ts';
import { type AcpManners, acpRulesKey, knownManners, mannerKeys } from './acpFaults.ts';

const agentKeys = {
  /** The script. Rules that match a message befall it in their order; what matches none is answered as it should be. @defaultValue [] */
  faults: acpRulesKey,
  /** Has the manners of this agent, as measured, where no option says otherwise. @defaultValue none */
  like: choice(['goose', 'gemini', 'opencode', 'copilot', 'claude', 'codex']),
  /** Name that it gives itself. @defaultValue 'faulty' */
  name: text({ default: 'faulty' }),
  /** A file that keeps its sessions and counts its starts, so that a session can be loaded after its end. @defaultValue none */
  stateFile: text(),
  /** Seed of the `chance` of rules. @defaultValue 1 */
  seed: integer({ min: 0, default: 1 }),
};

const programKeys = {
  ...agentKeys,
  /** A file to which each line that it reads is appended, as JSON: its `pid`, `atMs` (wall time) and `line`. @defaultValue none */
  transcriptFile: text(),
  /** Written to stderr at its start. @defaultValue nothing */
  stderr: text({ empty: true }),
};

const inProcessKeys = {
  ...agentKeys,
  /** Time of its waits and of its transcript. @defaultValue the system's */
  clock: having<Pick<Clock, 'now' | 'setTimeout'>>('a clock', ['now', 'setTimeout']),
};

/** Faults of an ACP agent that is a program, and what it is like otherwise. */
export interface FaultyAcpAgentOptions extends AcpManners, Given<typeof programKeys> {}

/** The same of one in this process. */
export interface InProcessAcpAgentOptions extends AcpManners, Given<typeof inProcessKeys> {}

/** Options that were read. */
export interface AcpScript extends Values<typeof mannerKeys & typeof programKeys> {}

/** @throws TypeError or RangeError that names the option and its value. */
export const programScript = (options: FaultyAcpAgentOptions) => scriptOf(options, { ...mannerKeys, ...programKeys });

/** @throws TypeError or RangeError that names the option and its value. */
export const inProcessScript = (options: InProcessAcpAgentOptions) =>
  scriptOf(options, { ...mannerKeys, ...inProcessKeys });

function scriptOf<K extends typeof agentKeys>(options: Given<K>, keys: K): Values<K> {
  const { like } = options as Given<typeof agentKeys>;
  // An unknown name is complained about where all options are read.
  const manners = like !== undefined && Object.hasOwn(knownManners, like) ? knownManners[like] : {};
  const script = readOptions('', { ...manners, ...options } as Given<K>, keys);
  const { faults, stateFile } = script as Values<typeof agentKeys>;
  for (const [index, { on, at, start }] of faults.entries()) {
    if (at !== undefined && on !== undefined && on !== 'session/prompt')
      throw new RangeError(`Expected \`faults[${index}].on\` to be "session/prompt" beside \`at\`, got ${show(on)}`);
    if (start !== undefined && stateFile === undefined)
      throw new RangeError('Expected a `stateFile` beside rules with a `start`');
  }
  return script;
}
