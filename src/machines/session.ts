import { type ActorRefFrom, assign, emit, setup } from 'xstate';
import { formatDuration } from '../policy/text/duration.ts';

interface SessionInput {
  readonly session: string;
  /** Time that a turn that was told to end may take before it is left behind, in ms. */
  readonly releaseMs: number;
  /** Time that a whole recovery may take before the session is restarted, in ms. Above `releaseMs`. */
  readonly recoveryMs: number;
}

/** A turn is named by its number in every event; one of another turn is ignored. */
export type SessionEvent =
  | { readonly type: 'message.arrived' }
  | { readonly type: 'mailbox.empty' }
  | { readonly type: 'turn.started'; readonly turn: number }
  | { readonly type: 'turn.ended'; readonly turn: number; readonly more: boolean }
  | { readonly type: 'turn.stalled'; readonly turn: number }
  | { readonly type: 'shutdown' };

export type SessionEmitted =
  /** The session is ready for its next message. */
  | { readonly type: 'turn.wanted' }
  /** The turn is to be aborted. */
  | { readonly type: 'turn.aborting'; readonly turn: number }
  /** The turn did not end when told to: it is left behind, fenced. */
  | { readonly type: 'turn.abandoned'; readonly turn: number }
  /** The session took its next message, or is ready for it, after a release. */
  | { readonly type: 'session.recovered'; readonly turn: number };

interface SessionContext extends SessionInput {
  readonly turn: number;
  /** The turn whose release has not been proved yet. */
  readonly recovering: number | undefined;
}

const goesOn = [
  { guard: 'isLast', target: 'idle' },
  { guard: 'isCurrent', target: 'taking' },
] as const;
const provesRecovered = { guard: 'isRecovering', actions: ['announceRecovered', 'provedRecovered'] } as const;

/** A session: one turn at a time, and a way out of every turn. */
export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as SessionInput,
    emitted: {} as SessionEmitted,
  },
  delays: {
    release: ({ context }) => context.releaseMs,
    recovery: ({ context }) => context.recoveryMs,
  },
  guards: {
    isCurrent: ({ context, event }) => 'turn' in event && event.turn === context.turn,
    isLast: ({ context, event }) => 'more' in event && event.turn === context.turn && !event.more,
    isRecovering: ({ context }) => context.recovering !== undefined,
  },
  actions: {
    noteTurn: assign(({ event }) => ('turn' in event ? { turn: event.turn } : {})),
    noteRecovery: assign(({ context }) => ({ recovering: context.turn })),
    provedRecovered: assign({ recovering: undefined }),
    announceRecovered: emit(({ context }) => ({
      type: 'session.recovered' as const,
      turn: context.recovering ?? context.turn,
    })),
    wantTurn: emit({ type: 'turn.wanted' }),
    abortTurn: emit(({ context }) => ({ type: 'turn.aborting' as const, turn: context.turn })),
    abandonTurn: emit(({ context }) => ({ type: 'turn.abandoned' as const, turn: context.turn })),
    // Let it crash: the supervisor restarts the session, whose mailbox and history live outside this actor.
    crash: ({ context }) => {
      throw new Error(
        `Turn ${context.turn} of ${context.session} was not released within ${formatDuration(context.recoveryMs)}`,
      );
    },
  },
}).createMachine({
  id: 'session',
  context: ({ input }) => ({ ...input, turn: 0, recovering: undefined }),
  initial: 'idle',
  states: {
    idle: {
      always: provesRecovered,
      on: { 'message.arrived': 'taking', shutdown: 'stopped' },
    },
    taking: {
      entry: 'wantTurn',
      after: { recovery: { actions: 'crash' } },
      on: {
        'turn.started': { target: 'processing', actions: 'noteTurn' },
        'mailbox.empty': 'idle',
        shutdown: 'stopped',
      },
    },
    processing: {
      always: provesRecovered,
      on: {
        'turn.ended': goesOn,
        'turn.stalled': { guard: 'isCurrent', target: 'releasing' },
        shutdown: 'closing',
      },
    },
    releasing: {
      entry: ['noteRecovery', 'abortTurn'],
      after: { release: { actions: 'abandonTurn' }, recovery: { actions: 'crash' } },
      on: {
        'turn.ended': goesOn,
        shutdown: 'closing',
      },
    },
    closing: {
      entry: 'abortTurn',
      after: { release: { target: 'stopped', actions: 'abandonTurn' } },
      on: { 'turn.ended': { guard: 'isCurrent', target: 'stopped' } },
    },
    stopped: { type: 'final' },
  },
});

export type SessionRef = ActorRefFrom<typeof sessionMachine>;
