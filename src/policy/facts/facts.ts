import type { AgentFacts } from './agentFacts.ts';
import type { AlertFacts } from './alertFacts.ts';
import type { CallFacts } from './callFacts.ts';
import type { HostFacts } from './hostFacts.ts';
import type { IntegrationFacts } from './integrationFacts.ts';
import type { McpFacts } from './mcpFacts.ts';
import type { OperatorFacts } from './operatorFacts.ts';
import type { SessionFacts } from './sessionFacts.ts';
import type { SupervisionFacts } from './supervisionFacts.ts';
import type { WorkflowFacts } from './workflowFacts.ts';

/**
 * The catalogue of facts the runtime tells the outside, one line each: when it fires, and what it carries.
 * Durations are in ms. `at` (wall time, ms since the epoch) is added when a fact is told.
 */
export interface FactMap
  extends CallFacts,
    AgentFacts,
    WorkflowFacts,
    IntegrationFacts,
    OperatorFacts,
    SessionFacts,
    SupervisionFacts,
    McpFacts,
    AlertFacts,
    HostFacts {}

/** The name of an event of the catalogue, such as `call.failed`. */
export type FactType = keyof FactMap;
/** Any event of the catalogue, as it is emitted inside; a subscriber gets it as {@link Told}. */
export type Fact = { [T in FactType]: { readonly type: T } & Readonly<FactMap[T]> }[FactType];
/** The facts of a type: of one backend's (`workflow.primary.failed`) those of the pattern it matches. */
export type FactOf<T extends FactType> = Matching<Fact, T>;
type Matching<F extends Fact, T extends FactType> = F extends { type: T }
  ? F
  : T extends F['type']
    ? F & { readonly type: T }
    : never;

/** A fact as it reaches its listeners: `at` is the wall time it was told, in ms since the epoch. */
export type Told<F> = F & { readonly at: number };

/** Place where facts are told. Telling never throws. */
export interface Facts {
  /** @param recorded - the store has it already, written with the change that it tells of. @defaultValue false */
  tell(fact: Fact, recorded?: boolean): void;
  /** Tells whether anybody listens to this type, so that frequent facts need not be built for nobody. */
  wants(type: FactType): boolean;
}

/** Place where facts are told of which some are recorded first, with the change that they tell of. */
export interface KeptFacts extends Facts {
  /** The fact without secrets, as the store is given it: once it is kept, this one is told as recorded. */
  masked<F extends Fact>(fact: F): F;
}
