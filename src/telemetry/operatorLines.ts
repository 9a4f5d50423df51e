import type { Fact, FactOf, FactType } from '../policy/facts.ts';

type OperatorFact = Extract<Fact, { readonly type: `operator.${string}` }>;
type OperatorFactType = Extract<FactType, `operator.${string}`>;

/** Says what an operator did, in a line for people. */
export function operatorText<T extends OperatorFactType>(fact: FactOf<T>): string {
  const textOf = texts[fact.type as T] as (fact: FactOf<T>) => string;
  return `${textOf(fact)}${whoText(fact as OperatorFact)}`;
}

const texts: { readonly [T in OperatorFactType]: (fact: FactOf<T>) => string } = {
  'operator.restarted': (fact) => {
    const { integration, calls } = fact;
    const ended = calls === 0 ? '' : `, with ${calls === 1 ? '1 call' : `${calls} calls`} in flight`;
    const what = integration === undefined ? `the session ${fact.session ?? ''}` : integration;
    return `An operator restarted ${what}${ended}`;
  },
  'operator.isolated': (fact) => `An operator isolated ${fact.integration}`,
  'operator.reset': (fact) => `An operator reset the circuit of ${fact.integration}`,
  'operator.probed': (fact) => {
    const { integration, tool } = fact;
    const what = tool === undefined ? integration : `the tool ${tool} of ${integration}`;
    return `An operator asked for a probe of ${what}`;
  },
  'operator.fired': (fact) => `An operator had ${fact.rule} of the session ${fact.session} act at once`,
  'operator.retries_stopped': (fact) =>
    `An operator stopped the retries of ${fact.call} of the session ${fact.session}`,
  'operator.cancelled': (fact) => {
    const { session, turn, call } = fact;
    return `An operator ended ${call === undefined ? `turn ${turn}` : call} of the session ${session}`;
  },
  'operator.sent_again': (fact) =>
    `An operator sent the dead letter ${fact.message} of the session ${fact.session} again, as ${fact.as}`,
  'operator.dropped': (fact) => `An operator dropped the dead letter ${fact.message} of the session ${fact.session}`,
  'operator.acknowledged': (fact) => `An operator acknowledged the alert of ${fact.integration}`,
  'operator.snoozed': (fact) => `An operator put off the alert of ${fact.integration}`,
};

/** The orders that are told. */
export const operatorFactTypes = Object.keys(texts) as readonly OperatorFactType[];

/** Whom an operator's order was about. */
export function aboutOperator(fact: OperatorFact): string {
  const { session, integration = '' } = fact as { readonly session?: string; readonly integration?: string };
  return session ?? integration;
}

function whoText({ by, why }: Pick<OperatorFact, 'by' | 'why'>): string {
  const who = by === undefined ? '' : ` (${by})`;
  return `${who}${why === undefined ? '' : `: ${why}`}`;
}
