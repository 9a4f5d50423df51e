import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Clock } from '../../src/policy/face.ts';
import { type Given, type Values, choice, having, integer, readOptions, text } from '../../src/policy/options/face.ts';
import { show } from '../../src/policy/text/face.ts';
import { realClock } from '../realClock.ts';
import { programWords } from '../programWords.ts';
import { wholeLines } from '../wholeLines.ts';
import { type AcpManners, acpRulesKey, knownManners, mannerKeys } from './acpFaults.ts';
import { type AcpExit, AcpPeer } from './acpPeer.ts';

/** A program and its arguments, as clients and `unwedge acp` take them. */
export interface FaultyAcpAgent {
  readonly command: string;
  readonly args: string[];
}

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

/**
 * An agent of the Agent Client Protocol (version 1, over stdio) that does wrong what the script says, and the same each time. It needs nothing but
 * Node, and no model.
 *
 * Its prompts say what it does, step by step, apart by `;` or lines: `say TEXT`, `think SECONDS`, `wait SECONDS`, `tool NAME [SECONDS]`,
 * `ask [NAME [SECONDS]]` (a permission, and the tool), `append FILE TEXT` (an effect that can be counted), `read PATH` and `write PATH TEXT` (by the client), `run COMMAND`
 * (in the client's terminal), `stop REASON`. Anything else is said back.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * // Says nothing more in its second prompt after half of a text, and does not hear the cancel.
 * const agent = faultyAcpAgent({
 *   faults: [{ nth: 2, at: 'text', do: 'hang' }, { on: 'session/cancel', do: 'hang' }],
 * });
 */
export function faultyAcpAgent(options: FaultyAcpAgentOptions = {}): FaultyAcpAgent {
  return programWords('faultyAcpProgram', scriptOf(options, { ...mannerKeys, ...programKeys }));
}

/** An agent in this process, as the one that started it has it. */
export interface InProcessAcpAgent {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Every line that it has read. */
  readonly transcript: readonly { readonly atMs: number; readonly line: string }[];
  /** Resolves with its end; its stdout has ended then, too. */
  readonly exited: Promise<AcpExit>;
  /** Ends it at once. */
  kill(signal?: string): void;
}

/**
 * The agent of {@link faultyAcpAgent} over a pair of streams in this process, with a clock that may be simulated.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function inProcessAcpAgent(options: InProcessAcpAgentOptions = {}): InProcessAcpAgent {
  const { clock = realClock, ...script } = scriptOf(options, { ...mannerKeys, ...inProcessKeys });
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const transcript: { atMs: number; line: string }[] = [];
  let isDeaf = false;
  let exit!: (end: AcpExit) => void;
  const exited = new Promise<AcpExit>((resolve) => (exit = resolve));
  const end = (how: AcpExit): void => {
    isDeaf = true;
    stdout.end();
    exit(how);
  };
  const peer = new AcpPeer(script, {
    clock,
    write: (text) => void (stdout.writableEnded || stdout.write(text)),
    warn: () => undefined,
    exit: end,
    block: () => (isDeaf = true),
  });
  const lines = wholeLines((line) => {
    if (isDeaf) return;
    transcript.push({ atMs: clock.now(), line });
    peer.receive(line);
  });
  stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  stdin.on('end', () => void (isDeaf || peer.stdinEnded()));
  peer.started();
  return { stdin, stdout, transcript, exited, kill: (signal = 'SIGKILL') => end({ signal }) };
}

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
