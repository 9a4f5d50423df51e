import type { Shape, ShapeBreak, ShapeCall, ShapeFailureKind, ShapeStep, SpinningShape } from './shape.ts';
import { otherCall } from './others.ts';

type Extra = Pick<ShapeCall, 'tookMs' | 'agent'>;
type Round = ShapeStep | readonly ShapeStep[];

/** A call that succeeded. */
export const ok = (tool: string, input: unknown, text: string, extra: Extra = {}): ShapeCall => ({
  tool,
  input,
  text,
  ...extra,
});

/** A call that failed. */
export const failed = (
  tool: string,
  input: unknown,
  message: string,
  { kind = 'tool_error', ...extra }: Extra & { readonly kind?: ShapeFailureKind } = {},
): ShapeCall => ({ tool, input, failure: { kind, message }, ...extra });

/** Makes something `count` times, from 0 on. */
export const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Calls of a sub-agent. */
export const by = (agent: string, calls: readonly ShapeCall[]): readonly ShapeCall[] =>
  calls.map((call) => ({ ...call, agent }));

/** A healthy session of rounds, one call or several each. */
export const healthy = (
  name: string,
  rounds: readonly Round[],
  about: Pick<Shape, 'source' | 'tools'> = {},
): Shape => ({ name, ...about, steps: rounds.flat() });

interface Spin extends Pick<Shape, 'source' | 'tools'> {
  /** Number of rounds, 11 at least. */
  readonly count?: number;
  /** Breaks, by the round they stand before. */
  readonly breaks?: Readonly<Record<number, ShapeBreak>>;
  /** Number of other calls before each round. */
  readonly between?: number | ((round: number) => number);
  /** Makes the other calls; each is made once. */
  readonly other?: (index: number) => ShapeCall;
  /** Healthy steps before the first round. */
  readonly before?: readonly ShapeStep[];
}

const repetitions = 10;

/** A spinning session: the last call of each round is the repeated one, or the last of the repeated cycle. */
export const spinning = (name: string, round: (index: number) => Round, spin: Spin = {}): SpinningShape => {
  const { count = 16, breaks = {}, between = 0, other = otherCall, before = [], ...about } = spin;
  const steps: ShapeStep[] = [...before];
  let others = 0;
  let noticedBy = -1;
  for (let index = 0; index < count; index += 1) {
    const pause = breaks[index];
    if (pause !== undefined) steps.push(pause);
    const more = typeof between === 'number' ? between : between(index);
    for (let made = 0; made < more; made += 1) {
      steps.push(other(others));
      others += 1;
    }
    steps.push(...[round(index)].flat());
    if (index === repetitions) noticedBy = steps.length - 1;
  }
  return { name, ...about, steps, noticedBy };
};
