import type { Fault, Harm, Round, Seen } from './round.ts';
import { type Verdicts, worse } from './suite.ts';

/** A run that is to be played under a fault. */
export type Cut = Round & { readonly fault: Fault; readonly scenario: string; readonly reads: boolean };

/** Result of one run under a fault, beside the server itself that nothing happened to. */
export interface Cell {
  readonly way: string;
  readonly fault: Fault;
  readonly at: number;
  readonly scenario: string;
  readonly reads: boolean;
  /** The boundary at which the fault fell; a run that had fewer of them than before has none. */
  readonly harm?: Harm | undefined;
  /** Verdicts that are worse. */
  readonly worse: Verdicts;
  readonly said?: string | undefined;
  readonly explained?: Explanation | undefined;
  /** The words of a first run that was worse without an explanation, where the second was not. */
  readonly once?: string | undefined;
  /** How long it took, in ms. */
  readonly ms: number;
}

/**
 * Why a verdict is worse. `lost`: a call was under way whose tool may act, and was answered as such. `start`: the server hung in its handshake, which is
 * answered with an error at the limit of a start; the next request starts it again.
 */
type Explanation = 'lost' | 'start';

/** Names one run under a fault. */
export const cellName = ({
  way,
  fault,
  at,
  scenario,
  reads,
}: Pick<Cell, 'way' | 'fault' | 'at' | 'scenario' | 'reads'>): string => `${way} ${scenario} ${fault} ${at} ${reads}`;

/** Names a run before it is played, as its cell is named. */
export const nameOf = ({ way, ...cut }: Cut): string => cellName({ ...cut, way: way.name });

export const isUnexplained = (cell: Cell): boolean =>
  Object.keys(cell.worse).length > 0 && cell.explained === undefined;

/** Judges a run beside what the suite says of the server itself. */
export function judged({ way, fault, at, scenario, reads }: Cut, seen: Seen, base: Verdicts): Cell {
  const own = Object.fromEntries(Object.entries(base).filter(([check]) => check.startsWith(`${scenario}/`)));
  const bad = worse(seen.verdicts, own);
  const harm = seen.harms[scenario];
  const isWorse = Object.keys(bad).length > 0;
  const said = seen.said[scenario] ?? (isWorse ? seen.printed.slice(-300) : undefined);
  return {
    way: way.name,
    fault,
    at,
    scenario,
    reads,
    harm,
    worse: bad,
    said,
    ms: Math.round(seen.ms),
    ...(isWorse && { explained: explain(fault, reads, harm, said) }),
  };
}

function explain(fault: Fault, reads: boolean, harm: Harm | undefined, said = ''): Explanation | undefined {
  // A call that is lost is told as such: one that nobody answers is explained by nothing.
  if (harm === undefined || said.includes('timed out')) return undefined;
  if (fault === 'hang' && harm.untold === 'handshake') return 'start';
  return harm.underWay === undefined || reads ? undefined : 'lost';
}
