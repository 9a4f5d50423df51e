import { assign, emit, fromCallback, sendTo, setup, stateIn } from 'xstate';
import type {
  EndSignal,
  OutputListenerFailed,
  ProcessClosed,
  ProcessExited,
  ProcessKill,
  ProcessOrder,
  ProcessOutput,
  SubprocessEmitted,
  SubprocessEvent,
} from './subprocessEvents.ts';
import { conclusion, type ProcessExit, type ProcessExitReason, type RunFacts } from './subprocessExit.ts';
import { checkSubprocess, type SubprocessInput, type SubprocessRun } from './subprocessInput.ts';
import { messageOf } from '../policy/failures/thrown.ts';
import { itself } from './itself.ts';

export type { SubprocessEmitted } from './subprocessEvents.ts';
export type { ProcessExit } from './subprocessExit.ts';
export type { SubprocessInput } from './subprocessInput.ts';

/** Knowledge that the machine has of its run. */
export interface SubprocessContext extends RunFacts {
  readonly endSignal?: EndSignal | undefined;
  readonly exit?: ProcessExit;
}

/** Time that the slot needs beyond its grace time to see SIGKILL through; after that the machine goes on without it. */
const terminationMarginMs = 10_000;
/** Time that the slot may take to read what is left of a run that was ended: nobody waits for its output any more. */
const abandonmentMs = 20_000;
/** Time that a pipe that another process holds may bring nothing after the exit before it is given up. */
const defaultDrainMs = 2000;

/** Transitions that several states have. */
const fails = { target: 'exited', actions: { type: 'keepError', params: itself } } as const;
const ends = {
  'process.kill': {
    target: 'terminating',
    actions: {
      type: 'keepReason',
      params: ({ event: { reason = 'cancelled', signal } }: { event: ProcessKill }) => ({ reason, signal }),
    },
  },
  shutdown: { target: 'terminating', actions: { type: 'keepReason', params: { reason: 'cancelled' } } },
} as const;
const isSilentTooLong = {
  target: '#subprocess.terminating',
  actions: { type: 'keepReason', params: { reason: 'no-output-timeout' } },
} as const;

/**
 * Machine of one run of a command: it ends by itself, or the first limit or order ends it and everything below it. Its output is a {@link ProcessExit},
 * whatever happens.
 */
export const subprocessMachine = setup({
  types: {
    context: {} as SubprocessContext,
    events: {} as SubprocessEvent,
    input: {} as SubprocessInput,
    output: {} as ProcessExit,
    emitted: {} as SubprocessEmitted | OutputListenerFailed,
  },
  actors: {
    process: fromCallback<ProcessOrder, SubprocessRun>(() => {
      throw new Error('The slot `process` of the subprocess machine is not filled');
    }),
  },
  delays: {
    silence: ({ context }) => context.input.idleMs ?? 0,
    overall: ({ context }) => context.input.overallMs ?? 0,
    termination: ({ context }) => context.input.graceMs + terminationMarginMs,
    abandonment: abandonmentMs,
    // After a blocked event loop timers fire before what is already in the pipe was read: the scheduler lets it ask once more.
    turn: 0,
  },
  guards: {
    hasIdleLimit: ({ context }) => context.input.idleMs !== undefined,
    hasOverallLimit: ({ context }) => context.input.overallMs !== undefined,
    isOverLimit: ({ context }, { totalBytes }: ProcessOutput) =>
      totalBytes > (context.input.maxOutputBytes ?? Number.POSITIVE_INFINITY),
    isSilent: stateIn({ running: { silence: 'judging' } }),
    wasEnded: ({ context: { reason } }) => reason !== 'exit' && reason !== 'signal',
    isClosed: ({ context }) => context.captured !== undefined,
  },
  actions: {
    keepPid: assign((_, { pid }: { pid: number }) => ({ pid })),
    keepReason: assign((_, { reason, signal }: { reason: ProcessExitReason; signal?: EndSignal | undefined }) => ({
      reason,
      endSignal: signal,
    })),
    keepError: assign(({ context }, { error }: { error: unknown }) => ({
      reason: context.reason ?? ('spawn-error' as const),
      error,
    })),
    keepExit: assign(({ context }, { exitCode, signal }: ProcessExited) => ({
      reason: context.reason ?? (signal === undefined ? ('exit' as const) : ('signal' as const)),
      exitCode,
      signal,
    })),
    keepOutput: assign((_, { stdout, stderr, isCut, leftRunning }: ProcessClosed) => ({
      captured: { stdout, stderr, isCut, leftRunning },
    })),
    conclude: assign(({ context }) => ({ exit: conclusion(context) })),
    terminate: sendTo('process', ({ context }) => ({
      type: 'process.terminate',
      graceMs: context.input.graceMs,
      signal: context.endSignal,
    })),
    drain: sendTo('process', ({ context }) => ({
      type: 'process.drain',
      quietMs: context.input.drainMs ?? defaultDrainMs,
    })),
    // Nothing to do; but what a machine takes no notice of, its supervisor takes for deaf and cuts short.
    goOnEnding: () => undefined,
    announceStart: emit(({ context }, { pid }: { pid: number }) => ({
      type: 'process.started' as const,
      pid,
      command: context.input.command,
    })),
    announceOutput: emit((_, { stream, bytes }: ProcessOutput) => ({ type: 'process.output' as const, stream, bytes })),
    announceListenerFailure: emit((_, { error }: { error: unknown }) => ({
      type: 'listener.failed' as const,
      event: 'process.output' as const,
      error: messageOf(error),
      stack: error instanceof Error ? error.stack : undefined,
    })),
    announceExit: emit(({ context }) => {
      const { pid, reason, exitCode, signal, elapsedMs } = context.exit ?? conclusion(context);
      return { type: 'process.exited' as const, pid, reason, exitCode, signal, elapsedMs };
    }),
  },
}).createMachine({
  id: 'subprocess',
  context: ({ input }) => ({
    input: checkSubprocess(input),
    startedAt: input.clock.now(),
  }),
  invoke: {
    id: 'process',
    src: 'process',
    input: ({ context }) => context.input,
    onError: { target: '.exited', actions: { type: 'keepError', params: itself } },
  },
  on: {
    'process.listener_failed': { actions: { type: 'announceListenerFailure', params: itself } },
    shutdown: { actions: 'goOnEnding' },
  },
  initial: 'starting',
  states: {
    starting: {
      on: {
        'process.spawned': {
          target: 'running',
          actions: [
            { type: 'keepPid', params: itself },
            { type: 'announceStart', params: itself },
          ],
        },
        'process.failed': fails,
        ...ends,
      },
    },
    running: {
      type: 'parallel',
      on: {
        'process.exited': { target: 'draining', actions: { type: 'keepExit', params: itself } },
        ...ends,
      },
      states: {
        volume: {
          on: {
            'process.output': [
              {
                guard: { type: 'isOverLimit', params: itself },
                target: '#subprocess.terminating',
                actions: { type: 'keepReason', params: { reason: 'output-limit' } },
              },
              { actions: { type: 'announceOutput', params: itself } },
            ],
          },
        },
        silence: {
          initial: 'unlimited',
          states: {
            unlimited: { always: { guard: 'hasIdleLimit', target: 'listening' } },
            listening: {
              on: {
                'process.output': { target: 'listening', reenter: true },
                'process.progress': { target: 'listening', reenter: true },
              },
              after: { silence: 'judging' },
            },
            judging: {
              on: { 'process.output': 'listening', 'process.progress': 'listening' },
              after: {
                turn: isSilentTooLong,
              },
            },
          },
        },
        overall: {
          initial: 'unlimited',
          states: {
            unlimited: { always: { guard: 'hasOverallLimit', target: 'counting' } },
            counting: { after: { overall: 'judging' } },
            judging: {
              after: {
                turn: [
                  { guard: 'isSilent', ...isSilentTooLong },
                  {
                    target: '#subprocess.terminating',
                    actions: { type: 'keepReason', params: { reason: 'overall-timeout' } },
                  },
                ],
              },
            },
          },
        },
      },
    },
    terminating: {
      entry: 'terminate',
      on: {
        'process.failed': fails,
        'process.exited': { actions: { type: 'keepExit', params: itself } },
        'process.closed': { actions: { type: 'keepOutput', params: itself } },
        'process.terminated': [{ guard: 'isClosed', target: 'exited' }, { target: 'draining' }],
      },
      after: { termination: 'draining' },
    },
    draining: {
      entry: 'drain',
      on: {
        'process.exited': { actions: { type: 'keepExit', params: itself } },
        'process.closed': { target: 'exited', actions: { type: 'keepOutput', params: itself } },
        // The holder of the pipe is ended; the pipe ends with it.
        ...ends,
      },
      after: { abandonment: { guard: 'wasEnded', target: 'exited' } },
    },
    exited: {
      type: 'final',
      entry: ['conclude', 'announceExit'],
    },
  },
  output: ({ context }) => context.exit ?? conclusion(context),
});
