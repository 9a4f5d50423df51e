import { type ActorRefFrom, assign, emit, fromCallback, sendTo, setup } from 'xstate';
import { formatDuration } from '../policy/text/duration.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import { itself } from './itself.ts';

export interface ConnectionInput {
  /** Command that is run; for the record only. */
  readonly command: string;
  /** Limit on the handshake, in ms above 0, or what gives that of the incarnation that begins. @defaultValue 10000 */
  readonly handshakeMs?: number | (() => number) | undefined;
  /** Makes what the machine ends with when the connection was lost. @defaultValue a {@link ConnectionExit} */
  readonly lostOutput?: ((facts: FailureFacts) => unknown) | undefined;
}

/** End of a connection: closed by either side in good order (`normal`), or lost. */
type ConnectionExit = { readonly exit: 'normal' } | { readonly exit: 'failure'; readonly facts: FailureFacts };

/** Description that the other side gave of itself in the handshake. */
interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** End of the process behind the connection. */
export interface ProcessEnd {
  /** Absent when nothing was started. */
  readonly pid?: number | undefined;
  readonly exitCode?: number | undefined;
  /** The signal that ended it. */
  readonly signal?: string | undefined;
  readonly elapsedMs: number;
}

/** Events of the slot, and the one order from outside. */
export type ConnectionEvent =
  | { readonly type: 'link.started'; readonly pid: number }
  | { readonly type: 'link.ready'; readonly server: ServerInfo | undefined }
  /** The other side is there and does not answer. */
  | { readonly type: 'link.hung'; readonly facts: FailureFacts }
  /** The other side is gone, with everything it started. */
  | { readonly type: 'link.lost'; readonly facts: FailureFacts; readonly end: ProcessEnd }
  /** The connection ended in good order, and nothing of it is left. */
  | { readonly type: 'link.closed'; readonly end: ProcessEnd }
  | { readonly type: 'shutdown' };

/** Orders to the slot. */
export type LinkOrder =
  /** End in good order; answered by `link.closed`. */
  | { readonly type: 'link.close' }
  /** End at once, for this reason; answered by `link.lost`. */
  | { readonly type: 'link.kill'; readonly facts: FailureFacts };

export type ConnectionEmitted =
  | { readonly type: 'process.started'; readonly pid: number; readonly command: string }
  | ({ readonly type: 'process.exited'; readonly reason: string } & ProcessEnd);

interface ConnectionContext {
  readonly command: string;
  readonly handshakeMs: number;
  readonly lostOutput: (facts: FailureFacts) => unknown;
  readonly server: ServerInfo | undefined;
  /** Why the connection is being given up, or was lost. */
  readonly facts: FailureFacts | undefined;
}

/** Time that the slot may need to see its kill through; after that the machine ends without its word. */
const terminationMs = 5000;

const announceEnd = { type: 'announceEnd', params: itself } as const;
const closes = { target: 'closed', actions: announceEnd } as const;
const greeted = {
  'link.ready': { target: 'ready', actions: { type: 'keepServer', params: itself } },
  shutdown: 'draining',
} as const;

/**
 * Machine of one connection to a process that must greet before it is used, from start to end. It never comes back: another connection is another actor.
 */
export const connectionMachine = setup({
  types: {
    context: {} as ConnectionContext,
    events: {} as ConnectionEvent,
    input: {} as ConnectionInput,
    output: {} as unknown,
    emitted: {} as ConnectionEmitted,
  },
  actors: {
    link: fromCallback<LinkOrder>(() => {
      throw new Error('The slot `link` of the connection machine is not filled');
    }),
  },
  delays: {
    handshake: ({ context }) => context.handshakeMs,
    termination: terminationMs,
    // After a blocked event loop timers fire before what is already in the pipe was read.
    turn: 0,
  },
  actions: {
    keepServer: assign((_, { server }: { server: ServerInfo | undefined }) => ({ server })),
    keepFacts: assign((_, { facts }: { facts: FailureFacts }) => ({ facts })),
    keepSilence: assign(({ context }) => ({
      facts: {
        kind: 'timeout' as const,
        reason: 'init_timeout' as const,
        message: `No answer to initialize within ${formatDuration(context.handshakeMs)}`,
        outcome: 'not_started' as const,
      },
    })),
    keepError: assign((_, { error }: { error: unknown }) => ({
      facts: {
        kind: 'crash' as const,
        reason: 'startup_failed' as const,
        message: error instanceof Error ? error.message : 'The connection could not be started',
        outcome: 'not_started' as const,
        cause: error,
      },
    })),
    close: sendTo('link', { type: 'link.close' }),
    kill: sendTo('link', ({ context }) => ({ type: 'link.kill', facts: context.facts })),
    // Nothing to do; but what a machine takes no notice of, its supervisor takes for deaf and cuts short.
    goOnEnding: () => undefined,
    announceStart: emit(({ context }, { pid }: { pid: number }) => ({
      type: 'process.started' as const,
      pid,
      command: context.command,
    })),
    announceEnd: emit(({ context }, { end }: { end: ProcessEnd }) => ({
      type: 'process.exited' as const,
      ...end,
      reason: context.facts?.reason ?? (end.signal === undefined ? 'exit' : 'signal'),
    })),
  },
}).createMachine({
  id: 'connection',
  context: ({ input }) => ({
    command: input.command,
    handshakeMs: typeof input.handshakeMs === 'function' ? input.handshakeMs() : (input.handshakeMs ?? 10_000),
    lostOutput: input.lostOutput ?? ((facts): ConnectionExit => ({ exit: 'failure', facts })),
    server: undefined,
    facts: undefined,
  }),
  invoke: {
    id: 'link',
    src: 'link',
    onError: { target: '.crashed', actions: { type: 'keepError', params: itself } },
  },
  on: {
    'link.started': { actions: { type: 'announceStart', params: itself } },
    'link.lost': { target: '.crashed', actions: [{ type: 'keepFacts', params: itself }, announceEnd] },
  },
  initial: 'handshake',
  states: {
    handshake: { on: greeted, after: { handshake: 'overdue' } },
    overdue: {
      on: greeted,
      after: { turn: { target: 'terminating', actions: 'keepSilence' } },
    },
    ready: {
      on: {
        'link.hung': { target: 'terminating', actions: { type: 'keepFacts', params: itself } },
        'link.closed': closes,
        shutdown: 'draining',
      },
    },
    terminating: {
      entry: 'kill',
      on: { shutdown: { actions: 'goOnEnding' } },
      after: { termination: 'crashed' },
    },
    draining: {
      entry: 'close',
      on: {
        'link.closed': closes,
        // It was asked to end; how it did makes no difference any more.
        'link.lost': closes,
      },
    },
    closed: { type: 'final' },
    crashed: { type: 'final' },
  },
  output: ({ context }: { context: ConnectionContext }): unknown =>
    context.facts === undefined ? { exit: 'normal' } : context.lostOutput(context.facts),
});

export type ConnectionRef = ActorRefFrom<typeof connectionMachine>;
