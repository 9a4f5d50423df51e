import { assign, emit, fromCallback, sendTo, setup, stateIn } from 'xstate';
import type {
  EndSignal,
  OutputListenerFailed,
  ProcessExited,
  ProcessOrder,
  ProcessOutput,
  SubprocessEmitted,
  SubprocessEvent,
} from './subprocessEvents.ts';
import {
  type CapturedOutput,
  conclusion,
  type ProcessExit,
  type ProcessExitReason,
  type RunFacts,
} from './subprocessExit.ts';
import { checkSubprocess, type SubprocessInput, type SubprocessRun } from './subprocessInput.ts';
import { messageOf } from '../policy/thrown.ts';

export type { SubprocessEmitted } from './subprocessEvents.ts';
export type { ProcessExit } from './subprocessExit.ts';
export type { SubprocessInput } from './subprocessInput.ts';

/** What the machine knows of its run. */
export interface SubprocessContext extends RunFacts {
  readonly endSignal?: EndSignal | undefined;
  readonly exit?: ProcessExit;
}

/** What the slot needs beyond its grace time to see SIGKILL through; after that the machine goes on without it. */
const terminationMarginMs = 10_000;

/**
 * One run of a command: it ends by itself, or the first limit or order ends it and everything below it. Its output is a
 * {@link ProcessExit}, whatever happens.
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
    drain: ({ context }) => context.input.drainMs ?? 200,
    termination: ({ context }) => context.input.graceMs + terminationMarginMs,
    // After a blocked event loop timers fire before what is already in the pipe was read.
    turn: 0,
  },
  guards: {
    hasIdleLimit: ({ context }) => context.input.idleMs !== undefined,
    hasOverallLimit: ({ context }) => context.input.overallMs !== undefined,
    isOverLimit: ({ context }, { totalBytes }: ProcessOutput) =>
      totalBytes > (context.input.maxOutputBytes ?? Number.POSITIVE_INFINITY),
    isSilent: stateIn({ running: { silence: 'judging' } }),
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
    keepOutput: assign((_, { stdout, stderr }: { stdout: CapturedOutput; stderr: CapturedOutput }) => ({
      captured: { stdout, stderr },
    })),
    conclude: assign(({ context }) => ({ exit: conclusion(context) })),
    terminate: sendTo('process', ({ context }) => ({
      type: 'process.terminate',
      graceMs: context.input.graceMs,
      signal: context.endSignal,
    })),
    close: sendTo('process', { type: 'process.close' }),
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
    onError: { target: '.exited', actions: { type: 'keepError', params: ({ event }) => event } },
  },
  on: {
    'process.listener_failed': { actions: { type: 'announceListenerFailure', params: ({ event }) => event } },
    shutdown: { actions: 'goOnEnding' },
  },
  initial: 'starting',
  states: {
    starting: {
      on: {
        'process.spawned': {
          target: 'running',
          actions: [
            { type: 'keepPid', params: ({ event }) => event },
            { type: 'announceStart', params: ({ event }) => event },
          ],
        },
        'process.failed': { target: 'exited', actions: { type: 'keepError', params: ({ event }) => event } },
        'process.kill': {
          target: 'terminating',
          actions: {
            type: 'keepReason',
            params: ({ event: { reason = 'cancelled', signal } }) => ({ reason, signal }),
          },
        },
        shutdown: { target: 'terminating', actions: { type: 'keepReason', params: { reason: 'cancelled' } } },
      },
    },
    running: {
      type: 'parallel',
      on: {
        'process.exited': { target: 'draining', actions: { type: 'keepExit', params: ({ event }) => event } },
        'process.kill': {
          target: 'terminating',
          actions: {
            type: 'keepReason',
            params: ({ event: { reason = 'cancelled', signal } }) => ({ reason, signal }),
          },
        },
        shutdown: { target: 'terminating', actions: { type: 'keepReason', params: { reason: 'cancelled' } } },
      },
      states: {
        volume: {
          on: {
            'process.output': [
              {
                guard: { type: 'isOverLimit', params: ({ event }) => event },
                target: '#subprocess.terminating',
                actions: { type: 'keepReason', params: { reason: 'output-limit' } },
              },
              { actions: { type: 'announceOutput', params: ({ event }) => event } },
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
                turn: {
                  target: '#subprocess.terminating',
                  actions: { type: 'keepReason', params: { reason: 'no-output-timeout' } },
                },
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
                  {
                    guard: 'isSilent',
                    target: '#subprocess.terminating',
                    actions: { type: 'keepReason', params: { reason: 'no-output-timeout' } },
                  },
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
        'process.failed': { target: 'exited', actions: { type: 'keepError', params: ({ event }) => event } },
        'process.exited': { actions: { type: 'keepExit', params: ({ event }) => event } },
        'process.closed': { actions: { type: 'keepOutput', params: ({ event }) => event } },
        'process.terminated': [{ guard: 'isClosed', target: 'exited' }, { target: 'draining' }],
      },
      after: { termination: 'draining' },
    },
    draining: {
      on: {
        'process.exited': { actions: { type: 'keepExit', params: ({ event }) => event } },
        'process.closed': { target: 'exited', actions: { type: 'keepOutput', params: ({ event }) => event } },
      },
      after: { drain: 'closing' },
    },
    closing: {
      entry: 'close',
      on: {
        'process.closed': { target: 'exited', actions: { type: 'keepOutput', params: ({ event }) => event } },
      },
      after: { drain: 'exited' },
    },
    exited: {
      type: 'final',
      entry: ['conclude', 'announceExit'],
    },
  },
  output: ({ context }) => context.exit ?? conclusion(context),
});
