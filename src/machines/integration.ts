import { type ActorRefFrom, assign, emit, setup } from 'xstate';
import { type BreakerPolicy, openForMs, openingRule } from '../policy/breaker.ts';
import { type BreakerRule, reopeningRule } from '../policy/breakerRule.ts';
import type {
  AttemptFailed,
  CallFigures,
  IntegrationEmitted,
  IntegrationEvent,
  Restored,
} from './integrationEvents.ts';
import { itself } from './itself.ts';

interface IntegrationInput {
  readonly name: string;
  readonly breaker: BreakerPolicy;
}

interface IntegrationContext {
  readonly name: string;
  readonly policy: BreakerPolicy;
  /** Bumped by every change among closed, open, half-open, crashed and isolated; an attempt of an older one changes nothing. */
  readonly generation: number;
  /** The circuit may be probed from here on; of meaning while it is open. */
  readonly openUntil: number;
  /** Openings in a row since the circuit last closed; steers the doubling of the open time. */
  readonly openings: number;
  /** The rule that opened it last; undefined while it is closed, and where nobody knows. An isolation is no opening of its own. */
  readonly rule: BreakerRule | undefined;
  readonly probing: number;
  /** Holders of an isolation; above 0 the circuit is forced open. */
  readonly isolations: number;
  readonly pausedUntil: number;
}

/** The circuit is closed, and nothing is known against it. */
const untroubled = { openUntil: 0, openings: 0, rule: undefined, probing: 0, isolations: 0, pausedUntil: 0 };

/** Guards, actions and transitions that several states have. */
const attempting = { type: 'attempting', params: itself } as const;
const onlyWaiting = { type: 'onlyWaiting', params: itself } as const;
const isCurrent = { type: 'isCurrent', params: itself } as const;
const announceOpen = { type: 'announceOpen', params: itself } as const;
const opens = {
  guard: { type: 'opensCircuit', params: itself },
  target: 'open',
  actions: [{ type: 'open', params: itself }, announceOpen],
} as const;
const restores = { target: 'open', actions: { type: 'restore', params: itself } } as const;
const closes = { target: 'idle', actions: ['close', 'announceClosed'] } as const;
const isMadeDue = { actions: { type: 'beDue', params: itself } } as const;

/**
 * An integration as the rest of the runtime sees it. `idle`, `calling` and `backoff` are the closed circuit, told apart by the
 * calls; the guards take every decision from the figures their events carry and never read the call table. A circuit that closes goes to `idle`; the call path
 * follows with the figures of the moment.
 */
export const integrationMachine = setup({
  types: {
    context: {} as IntegrationContext,
    events: {} as IntegrationEvent,
    input: {} as IntegrationInput,
    emitted: {} as IntegrationEmitted,
  },
  guards: {
    attempting: (_, { attempts }: CallFigures) => attempts > 0,
    onlyWaiting: (_, { attempts, waiting }: CallFigures) => attempts === 0 && waiting > 0,
    isCurrent: ({ context }, { generation }: { generation: number }) => generation === context.generation,
    opensCircuit: ({ context }, event: AttemptFailed) =>
      event.generation === context.generation && ruleOf(context, event) !== undefined,
    isDue: ({ context }, { at }: { at: number }) =>
      context.isolations === 0 && at >= context.openUntil && at >= context.pausedUntil,
    hasFreeProbe: ({ context }, { at }: { at: number }) =>
      context.probing < context.policy.probes && at >= context.pausedUntil,
    isIsolated: ({ context }) => context.isolations > 0,
    staysOpen: ({ context }) => context.isolations !== 1 || context.openings > 0,
    endsIsolation: ({ context }) => context.isolations === 1 && context.openings === 0,
    wasOpen: ({ context }) => context.openings > 0,
    wasOpenAndIsIsolated: ({ context }) => context.openings > 0 && context.isolations > 0,
  },
  actions: {
    open: assign(({ context }, event: AttemptFailed) => opened(context, event, ruleOf(context, event))),
    reopen: assign(({ context }, event: AttemptFailed) => opened(context, event, reopeningRule(context.rule))),
    restore: assign(({ context }, { openUntil, openings, rule }: Restored) => ({
      generation: context.generation + 1,
      openUntil,
      openings,
      rule,
    })),
    startProbing: assign(({ context }) => ({ generation: context.generation + 1, probing: 1 })),
    admitProbe: assign(({ context }) => ({ probing: context.probing + 1 })),
    releaseProbe: assign(({ context }) => ({ probing: context.probing - 1 })),
    close: assign(({ context }) => ({ ...untroubled, generation: context.generation + 1 })),
    lose: assign(({ context }) => ({ generation: context.generation + 1, openUntil: 0, probing: 0, pausedUntil: 0 })),
    isolate: assign(({ context }) => ({
      generation: context.generation + 1,
      isolations: context.isolations + 1,
      probing: 0,
    })),
    forgetOpenings: assign({ openUntil: 0, openings: 0, rule: undefined }),
    forgetAll: assign({ openUntil: 0, openings: 0, rule: undefined, isolations: 0, pausedUntil: 0 }),
    unisolate: assign(({ context }) => ({ isolations: Math.max(0, context.isolations - 1) })),
    pause: assign(({ context }, { until }: { until: number }) => ({
      pausedUntil: Math.max(context.pausedUntil, until),
    })),
    unpause: assign({ pausedUntil: 0 }),
    beDue: assign(({ context }, { at }: { at: number }) => ({
      openUntil: Math.min(context.openUntil, at),
      pausedUntil: Math.min(context.pausedUntil, at),
    })),
    announceOpen: emit(({ context }, { at, kind }: AttemptFailed) => ({
      type: 'breaker.opened' as const,
      openForMs: context.openUntil - at,
      kind,
      rule: context.rule,
    })),
    announceIsolation: emit({
      type: 'breaker.opened',
      openForMs: Number.POSITIVE_INFINITY,
      kind: 'isolated',
      rule: { name: 'isolated' },
    }),
    announceHalfOpen: emit({ type: 'breaker.half_opened' }),
    announceClosed: emit({ type: 'breaker.closed' }),
  },
}).createMachine({
  id: 'integration',
  context: ({ input }) => ({
    name: input.name,
    policy: input.breaker,
    generation: 0,
    ...untroubled,
  }),
  initial: 'idle',
  on: {
    'breaker.isolate': [
      { guard: 'isIsolated', actions: 'isolate' },
      { target: '.open', actions: ['isolate', 'announceIsolation'] },
    ],
    'integration.lost': { target: '.crashed', actions: 'lose' },
    'breaker.reset': { actions: 'unpause' },
    'integration.paused': { actions: { type: 'pause', params: itself } },
    'integration.unpaused': { actions: 'unpause' },
  },
  states: {
    idle: {
      on: {
        'calls.changed': [
          { guard: attempting, target: 'calling' },
          { guard: onlyWaiting, target: 'backoff' },
        ],
        // A silence is counted when it is known to have been one of the call alone.
        'attempt.failed': opens,
        'breaker.restore': restores,
      },
    },
    calling: {
      on: {
        'breaker.restore': restores,
        'calls.changed': [{ guard: attempting }, { guard: onlyWaiting, target: 'backoff' }, { target: 'idle' }],
        'attempt.failed': opens,
      },
    },
    backoff: {
      on: {
        'breaker.restore': restores,
        'calls.changed': [{ guard: attempting, target: 'calling' }, { guard: onlyWaiting }, { target: 'idle' }],
        'attempt.failed': opens,
      },
    },
    open: {
      on: {
        'breaker.restore': { actions: { type: 'restore', params: itself } },
        'probe.due': isMadeDue,
        'breaker.closed_elsewhere': [
          { guard: 'isIsolated', actions: 'forgetOpenings' },
          { target: 'idle', actions: 'close' },
        ],
        'probe.requested': {
          guard: { type: 'isDue', params: itself },
          target: 'half-open',
          actions: ['startProbing', 'announceHalfOpen'],
        },
        'breaker.release': [{ guard: 'staysOpen', actions: 'unisolate' }, closes],
        'breaker.reset': closes,
      },
    },
    'half-open': {
      on: {
        'probe.due': isMadeDue,
        'probe.requested': { guard: { type: 'hasFreeProbe', params: itself }, actions: 'admitProbe' },
        'attempt.answered': { guard: isCurrent, ...closes },
        'attempt.failed': {
          guard: isCurrent,
          target: 'open',
          actions: [{ type: 'reopen', params: itself }, announceOpen],
        },
        'attempt.ignored': { guard: isCurrent, actions: 'releaseProbe' },
        'breaker.reset': closes,
      },
    },
    crashed: {
      on: {
        'breaker.isolate': [{ guard: 'isIsolated', actions: 'isolate' }, { actions: ['isolate', 'announceIsolation'] }],
        'breaker.release': [
          { guard: 'endsIsolation', actions: ['unisolate', 'announceClosed'] },
          { guard: 'isIsolated', actions: 'unisolate' },
        ],
        'breaker.reset': [
          { guard: 'isIsolated', actions: ['forgetAll', 'announceClosed'] },
          { guard: 'wasOpen', actions: ['forgetAll', 'announceClosed'] },
          { actions: 'forgetAll' },
        ],
        'integration.lost': {},
        // The new process has answered a handshake: that is as good as a probe.
        'integration.restarted': [
          {
            guard: 'wasOpenAndIsIsolated',
            target: 'open',
            actions: ['forgetOpenings', 'announceClosed', 'announceIsolation'],
          },
          { guard: 'isIsolated', target: 'open' },
          { guard: 'wasOpen', target: 'idle', actions: ['close', 'announceClosed'] },
          { target: 'idle', actions: 'close' },
        ],
      },
    },
  },
});

function ruleOf({ policy }: IntegrationContext, { kind, tally }: AttemptFailed): BreakerRule | undefined {
  return openingRule(kind, tally, policy);
}

function opened(
  { generation, policy, openings }: IntegrationContext,
  { at, hintMs }: AttemptFailed,
  rule: BreakerRule | undefined,
) {
  return {
    generation: generation + 1,
    openUntil: at + openForMs(policy, openings, hintMs),
    openings: openings + 1,
    rule,
    probing: 0,
  };
}

/** The machine's states are the words every other part of the runtime uses for an integration. */
export type IntegrationState = 'idle' | 'calling' | 'backoff' | 'open' | 'half-open' | 'crashed';

export type IntegrationRef = ActorRefFrom<typeof integrationMachine>;
