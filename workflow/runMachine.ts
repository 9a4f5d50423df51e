import { assign, emit, fromCallback, fromPromise, sendTo, setup } from 'xstate';
import type { Failure } from '../src/policy/failures/face.ts';
import { itself } from '../src/machines/face.ts';

export interface WorkflowMachineInput {
  /** Names the run; unique within the runtime. */
  readonly run: string;
  /** Names of the backends in the order they are tried, at least one. */
  readonly backends: readonly string[];
}

/** Input of every slot: whose work it does. */
export interface WorkflowSlotInput {
  readonly run: string;
  /** Place of the backend in the list, from 0. */
  readonly backend: number;
}

/** Why a run is ended from outside: by its caller, by its own limit, or with its gateway. */
type WorkflowEnding = 'cancelled' | 'expired' | 'stopped';

/** End of the call that a whole run of a backend is, with the figures of its items. */
export interface BackendEnd {
  readonly ok: boolean;
  /** Absent of one that is `ok`. */
  readonly failure?: Failure | undefined;
  /** Error that the slot threw, where there was no call. */
  readonly error?: unknown;
  /** Items that were done, handed-over ones included. */
  readonly done: number;
  /** Items that failed or were skipped. */
  readonly undone: number;
}

/** Figures that changed when an item ended. */
export interface ItemFigures {
  /** Items ended, whatever their end. */
  readonly ended: number;
  readonly done: number;
  readonly total: number;
  /** Its failure ends the backend's run. */
  readonly critical: boolean;
  /** Error that the backend's run fails with, if it does. */
  readonly error?: unknown;
}

export type WorkflowMachineEvent =
  /** The circuit let the backend's run in; its limit runs from now. */
  | { readonly type: 'call.admitted' }
  | ({ readonly type: 'call.ended' } & BackendEnd)
  /** Also told once when the items begin, as none of them may be left to do. */
  | ({ readonly type: 'items.changed' } & ItemFigures)
  | { readonly type: 'run.cancel'; readonly reason?: unknown }
  /** The limit of the whole run is over. */
  | { readonly type: 'run.expired' }
  | { readonly type: 'shutdown' };

/** Orders to the slot `call`. */
export type BackendOrder =
  /** The work is done, or failed with this error: the call is to end with it. */
  | { readonly type: 'call.close'; readonly failed: boolean; readonly error: unknown }
  /** The call is to end now, whatever goes on. */
  | { readonly type: 'call.end'; readonly ending: WorkflowEnding; readonly reason: unknown };

export type WorkflowStatus = 'succeeded' | 'partial' | 'failed' | 'cancelled';

export type WorkflowEmitted =
  | { readonly type: 'backend.began'; readonly backend: number }
  /** `next`: the name of the backend that takes over. */
  | {
      readonly type: 'backend.ended';
      readonly backend: number;
      readonly end: BackendEnd;
      readonly next: string | undefined;
    }
  | { readonly type: 'run.ended'; readonly status: WorkflowStatus };

interface WorkflowContext extends WorkflowMachineInput {
  readonly backend: number;
  readonly ending: WorkflowEnding | undefined;
  readonly failed: boolean;
  /** Error that the backend's run fails with. */
  readonly error: unknown;
}

const slotInput = ({ context }: { context: WorkflowContext }): WorkflowSlotInput => ({
  run: context.run,
  backend: context.backend,
});

const unfilled = (slot: string): never => {
  throw new Error(`The slot \`${slot}\` of the workflow machine is not filled`);
};

const nothing: BackendEnd = { ok: false, done: 0, undone: 0 };

const announceEnd = { type: 'announceEnd', params: itself } as const;
const fails = { target: 'closing', actions: { type: 'keepError', params: itself } } as const;
/** Ends the call of the backend at once. */
const ends = (ending: WorkflowEnding) =>
  ({
    actions: [
      { type: 'noteEnding', params: { ending } },
      { type: 'endCall', params: { ending } },
    ],
  }) as const;

/**
 * Machine of one run of a workflow: each backend in turn is asked for a place behind its circuit, plans, has its plan checked, does the items and sums up,
 * all within one call, whose end decides what follows. Only the end of that call leaves `trying`: its limit, its abort and its circuit hold whatever the
 * backend does.
 */
export const workflowMachine = setup({
  types: {
    context: {} as WorkflowContext,
    events: {} as WorkflowMachineEvent,
    input: {} as WorkflowMachineInput,
    emitted: {} as WorkflowEmitted,
  },
  actors: {
    call: fromCallback<BackendOrder, WorkflowSlotInput>(() => unfilled('call')),
    plan: fromPromise<void, WorkflowSlotInput>(() => unfilled('plan')),
    check: fromPromise<{ readonly problems: number; readonly error?: unknown }, WorkflowSlotInput>(() =>
      unfilled('check'),
    ),
    items: fromCallback<WorkflowMachineEvent, WorkflowSlotInput>(() => unfilled('items')),
    summary: fromPromise<void, WorkflowSlotInput>(() => unfilled('summary')),
  },
  guards: {
    wasCancelled: ({ context }, { ok, failure }: BackendEnd) =>
      !ok && (failure?.kind === 'cancelled' || context.ending === 'cancelled' || context.ending === 'stopped'),
    didAll: (_, { ok, undone }: BackendEnd) => ok && undone === 0,
    didSome: (_, { ok }: BackendEnd) => ok,
    hasNext: ({ context }) => context.ending === undefined && context.backend + 1 < context.backends.length,
    isSound: (_, { problems }: { problems: number }) => problems === 0,
    isCritical: (_, { critical }: ItemFigures) => critical,
    didNothing: (_, { ended, done, total }: ItemFigures) => ended === total && done === 0,
    didEverything: (_, { ended, total }: ItemFigures) => ended === total,
  },
  actions: {
    begin: assign({ failed: false, error: undefined }),
    announceBegin: emit(({ context }) => ({ type: 'backend.began' as const, backend: context.backend })),
    keepError: assign((_, { error }: { error?: unknown }) => ({ failed: true, error })),
    closeCall: sendTo('call', ({ context }) => ({
      type: 'call.close' as const,
      failed: context.failed,
      error: context.error,
    })),
    endCall: sendTo('call', (_, { ending, reason }: { ending: WorkflowEnding; reason?: unknown }) => ({
      type: 'call.end' as const,
      ending,
      reason,
    })),
    noteEnding: assign(({ context }, { ending }: { ending: WorkflowEnding }) => ({
      ending: context.ending ?? ending,
    })),
    announceEnd: emit(({ context }, end: BackendEnd) => ({
      type: 'backend.ended' as const,
      backend: context.backend,
      end,
      next: undefined,
    })),
    announceFallback: emit(({ context }, end: BackendEnd) => ({
      type: 'backend.ended' as const,
      backend: context.backend,
      end,
      next: context.backends[context.backend + 1],
    })),
    takeNext: assign(({ context }) => ({ backend: context.backend + 1 })),
    announceRunEnd: emit((_, { status }: { status: WorkflowStatus }) => ({ type: 'run.ended' as const, status })),
  },
}).createMachine({
  id: 'workflow',
  context: ({ input }) => ({ ...input, backend: 0, ending: undefined, failed: false, error: undefined }),
  initial: 'trying',
  states: {
    trying: {
      entry: 'begin',
      invoke: {
        id: 'call',
        src: 'call',
        input: slotInput,
        onError: {
          target: 'failed',
          actions: { type: 'announceEnd', params: ({ event }) => ({ ...nothing, error: event.error }) },
        },
      },
      on: {
        'call.ended': [
          { guard: { type: 'wasCancelled', params: itself }, target: 'cancelled', actions: announceEnd },
          { guard: { type: 'didAll', params: itself }, target: 'succeeded', actions: announceEnd },
          { guard: { type: 'didSome', params: itself }, target: 'partial', actions: announceEnd },
          {
            guard: 'hasNext',
            target: 'trying',
            reenter: true,
            actions: [{ type: 'announceFallback', params: itself }, 'takeNext'],
          },
          { target: 'failed', actions: announceEnd },
        ],
        'run.cancel': {
          actions: [
            { type: 'noteEnding', params: { ending: 'cancelled' } },
            { type: 'endCall', params: ({ event }) => ({ ending: 'cancelled' as const, reason: event.reason }) },
          ],
        },
        'run.expired': ends('expired'),
        shutdown: ends('stopped'),
      },
      initial: 'asking',
      states: {
        asking: { on: { 'call.admitted': 'planning' } },
        planning: {
          entry: 'announceBegin',
          invoke: {
            id: 'plan',
            src: 'plan',
            input: slotInput,
            onDone: 'validating',
            onError: fails,
          },
        },
        validating: {
          invoke: {
            id: 'check',
            src: 'check',
            input: slotInput,
            onDone: [
              { guard: { type: 'isSound', params: ({ event }) => event.output }, target: 'working' },
              { target: 'closing', actions: { type: 'keepError', params: ({ event }) => event.output } },
            ],
            onError: fails,
          },
        },
        working: {
          invoke: {
            id: 'items',
            src: 'items',
            input: slotInput,
            onError: fails,
          },
          on: {
            'items.changed': [
              { guard: { type: 'isCritical', params: itself }, ...fails },
              { guard: { type: 'didNothing', params: itself }, ...fails },
              { guard: { type: 'didEverything', params: itself }, target: 'summing_up' },
            ],
          },
        },
        summing_up: {
          invoke: {
            id: 'summary',
            src: 'summary',
            input: slotInput,
            onDone: 'closing',
            onError: fails,
          },
        },
        closing: { entry: 'closeCall' },
      },
    },
    succeeded: { type: 'final', entry: { type: 'announceRunEnd', params: { status: 'succeeded' } } },
    partial: { type: 'final', entry: { type: 'announceRunEnd', params: { status: 'partial' } } },
    failed: { type: 'final', entry: { type: 'announceRunEnd', params: { status: 'failed' } } },
    cancelled: { type: 'final', entry: { type: 'announceRunEnd', params: { status: 'cancelled' } } },
  },
});
