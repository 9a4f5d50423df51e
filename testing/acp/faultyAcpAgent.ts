import { PassThrough, type Readable, type Writable } from 'node:stream';
import { realClock } from '../realClock.ts';
import { programWords } from '../programWords.ts';
import { wholeLines } from '../wholeLines.ts';
import { type AcpExit, AcpPeer } from './acpPeer.ts';
import {
  type FaultyAcpAgentOptions,
  type InProcessAcpAgentOptions,
  inProcessScript,
  programScript,
} from './acpScript.ts';

/** A program and its arguments, as clients and `unwedge acp` take them. */
export interface FaultyAcpAgent {
  readonly command: string;
  readonly args: string[];
}

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
  return programWords('faultyAcpProgram', programScript(options));
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
  const { clock = realClock, ...script } = inProcessScript(options);
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
