import { programFlaw } from '../policy/commandText.ts';
import { PassThrough } from 'node:stream';
import type { SubprocessInput } from '../machines/subprocessInput.ts';
import { show } from '../policy/showValue.ts';
import type { RunStdin, SpawnInput } from './supervisorTypes.ts';

/** What is run, as the machine of subprocesses takes it. */
export interface RunCommand {
  readonly input: Pick<
    SubprocessInput,
    'command' | 'args' | 'cwd' | 'env' | 'envMode' | 'stdin' | 'inherit' | 'overallMs' | 'idleMs'
  >;
  /** Of a run whose stdin stays open. */
  readonly stdin?: RunStdin | undefined;
}

/** What OpenClaw's own supervisor has and this one has not. To leave it out in silence would start something else than was asked for. */
const unsupported = ['argv0', 'secretInput', 'windowsVerbatimArguments'] as const;

/** @throws TypeError that names what is wrong. */
export function runCommand(input: SpawnInput): RunCommand {
  for (const name of unsupported) {
    if (Reflect.get(input, name) !== undefined) throw new TypeError(`\`${name}\` is not supported by this supervisor`);
  }
  const [command, ...args] = argvOf(input);
  if (command === undefined || command === '')
    throw new TypeError('Expected `argv` to begin with a program, got nothing');
  const flaw = programFlaw(command, 'the first of `argv`');
  if (flaw !== undefined) throw new TypeError(flaw);
  const { cwd, env } = input;
  const stdin = stdinOf(input);
  return {
    input: {
      command,
      args,
      ...(cwd !== undefined && { cwd }),
      ...(env !== undefined && { env, envMode: 'only' }),
      ...stdin.input,
      overallMs: limitOf(input.timeoutMs),
      idleMs: limitOf(input.noOutputTimeoutMs),
    },
    stdin: stdin.stdin,
  };
}

/** A limit as OpenClaw has it: what is no number above 0 is none. */
export function limitOf(ms: number | undefined): number | undefined {
  if (typeof ms !== 'number' || !Number.isFinite(ms) || ms <= 0) return undefined;
  return Math.max(1, Math.floor(ms));
}

function argvOf(input: SpawnInput): readonly string[] {
  switch (input.mode) {
    case 'child':
      return [...input.argv, ...(input.resolveArgs?.() ?? [])];
    case 'anchored-shell':
      return ['/bin/sh', '-c', input.command];
    default:
      throw new TypeError(
        `Expected \`mode\` to be "child" or "anchored-shell", got ${show(Reflect.get(input, 'mode'))}`,
      );
  }
}

function stdinOf(input: SpawnInput): {
  readonly input: Pick<SubprocessInput, 'stdin' | 'inherit'>;
  readonly stdin?: RunStdin;
} {
  const { input: text, stdinMode = 'pipe-closed' } = input.mode === 'child' ? input : {};
  if (stdinMode === 'inherit' && text === undefined) return { input: { inherit: ['stdin'] } };
  if (stdinMode !== 'pipe-open') return { input: { stdin: text } };
  const pipe = new PassThrough();
  // The child may end before it has read all of it.
  pipe.on('error', () => undefined);
  if (text !== undefined) pipe.write(text);
  return { input: { stdin: pipe }, stdin: openStdin(pipe) };
}

function openStdin(pipe: PassThrough): RunStdin {
  return {
    write: (data, done) => void pipe.write(data, (error) => done?.(error ?? null)),
    end: () => void pipe.end(),
    // With an error: without one the child would wait for the end of its input.
    destroy: () => void pipe.destroy(new Error('destroyed')),
    get destroyed() {
      return pipe.destroyed;
    },
    get writable() {
      return pipe.writable;
    },
    get writableEnded() {
      return pipe.writableEnded;
    },
    get writableFinished() {
      return pipe.writableFinished;
    },
  };
}
