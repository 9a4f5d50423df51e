import { assign, emit, fromCallback, setup } from 'xstate';
import type { QuestionForm } from '../policy/records/question.ts';
import { itself } from './itself.ts';

/** A question to a person or a policy, and how long it may stay open. */
export interface ApprovalInput {
  /** Name of the handler that is asked. */
  readonly approval: string;
  /** Names this question; unique within the runtime. */
  readonly request: string;
  /** Action to be approved, in short. */
  readonly action: string;
  readonly session?: string | undefined;
  /** Data that the handler is to judge by. */
  readonly payload?: unknown;
  /** Names it among those of its approval. */
  readonly place?: string | undefined;
  /** Form of its answer in the inbox. @defaultValue yes or no */
  readonly form?: QuestionForm | undefined;
  /** Session of the gateway in a turn of which it is asked. @defaultValue `session` */
  readonly within?: string | undefined;
  /** Longest wait for the answer, in ms, above 0. */
  readonly overallMs: number;
}

export type ApprovalDecision = 'accept' | 'decline';

/** Why a question was declined without an answer: nobody answered in time, the handler crashed, or nobody asks any more. */
export type ApprovalFailure = 'timeout' | 'crash' | 'unreadable' | 'cancelled' | 'stopped';

export type ApprovalEvent =
  | {
      readonly type: 'approval.answered';
      readonly decision: ApprovalDecision;
      readonly reason?: string | undefined;
      readonly value: unknown;
    }
  /** The handler threw, rejected (`crash`), or gave no answer (`unreadable`), or the inbox had none (`timeout`). */
  | {
      readonly type: 'approval.failed';
      readonly failure: Exclude<ApprovalFailure, 'cancelled' | 'stopped'>;
      readonly error: unknown;
    }
  /** The asker withdraws the question. */
  | { readonly type: 'approval.cancel' }
  | { readonly type: 'shutdown' };

/** End of a question. Without an answer it is declined, whatever the reason. */
export interface ApprovalEnd {
  readonly decision: ApprovalDecision;
  readonly reason?: string | undefined;
  /** Answer of the handler. */
  readonly value?: unknown;
  readonly failure?: ApprovalFailure | undefined;
  readonly error?: unknown;
}

export type ApprovalEmitted =
  | { readonly type: 'approval.requested'; readonly input: ApprovalInput }
  | { readonly type: 'approval.completed'; readonly input: ApprovalInput; readonly end: ApprovalEnd };

/** Knowledge that the machine has of its question. */
export interface ApprovalContext {
  readonly input: ApprovalInput;
  readonly end: ApprovalEnd;
}

const declined = (failure: ApprovalFailure, error?: unknown): ApprovalEnd => ({ decision: 'decline', failure, error });

const keepAnswer = {
  type: 'keepEnd',
  params: ({ event: { decision, reason, value } }: { event: ApprovalEnd }) => ({ decision, reason, value }),
} as const;

/**
 * Machine of one approval: `asking`, then `accepted` or `declined`. Only an answer that says so accepts; silence, a crash and everything that cannot be read
 * decline. Answers after the end find nobody.
 */
export const approvalMachine = setup({
  types: {
    context: {} as ApprovalContext,
    input: {} as ApprovalInput,
    events: {} as ApprovalEvent,
    emitted: {} as ApprovalEmitted,
    output: {} as ApprovalEnd,
  },
  actors: {
    handler: fromCallback<ApprovalEvent, ApprovalInput>(() => {
      throw new Error('The slot `handler` of the approval machine is not filled');
    }),
  },
  delays: {
    deadline: ({ context }) => context.input.overallMs,
    // After a blocked event loop timers fire before an answer that is already there.
    turn: 0,
  },
  guards: { accepts: (_, { decision }: { decision: ApprovalDecision }) => decision === 'accept' },
  actions: {
    keepEnd: assign((_, end: ApprovalEnd) => ({ end })),
    announceRequest: emit(({ context: { input } }) => ({ type: 'approval.requested' as const, input })),
    announceEnd: emit(({ context: { input, end } }) => ({ type: 'approval.completed' as const, input, end })),
  },
}).createMachine({
  id: 'approval',
  // The answer is no where nothing else was said yet.
  context: ({ input }) => ({ input, end: declined('stopped') }),
  initial: 'asking',
  states: {
    asking: {
      entry: 'announceRequest',
      invoke: {
        id: 'handler',
        src: 'handler',
        input: ({ context }) => context.input,
        onError: {
          target: 'declined',
          actions: { type: 'keepEnd', params: ({ event }) => declined('crash', event.error) },
        },
      },
      on: {
        'approval.answered': [
          { guard: { type: 'accepts', params: itself }, target: 'accepted', actions: keepAnswer },
          { target: 'declined', actions: keepAnswer },
        ],
        'approval.failed': {
          target: 'declined',
          actions: { type: 'keepEnd', params: ({ event }) => declined(event.failure, event.error) },
        },
        'approval.cancel': { target: 'declined', actions: { type: 'keepEnd', params: declined('cancelled') } },
        shutdown: { target: 'declined', actions: { type: 'keepEnd', params: declined('stopped') } },
      },
      initial: 'waiting',
      states: {
        waiting: { after: { deadline: 'judging' } },
        judging: {
          after: {
            turn: { target: '#approval.declined', actions: { type: 'keepEnd', params: declined('timeout') } },
          },
        },
      },
    },
    accepted: { type: 'final', entry: 'announceEnd' },
    declined: { type: 'final', entry: 'announceEnd' },
  },
  output: ({ context }) => context.end,
});
