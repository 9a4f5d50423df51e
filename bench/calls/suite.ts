import { type Field, loadField } from '../contenders/all.ts';
import { bare } from '../contenders/bare.ts';
import { type Case, defineSuite, type Suite } from '../harness/suite.ts';
import { allocates, inTurn, sparse, withSignal } from './cases.ts';

const plain = 'in turn';
const signal = 'in turn, signal read';
const alone = 'alone, a turn of the event loop after each';
const memory = 'in turn, memory';

/** What a call costs that succeeds. */
export async function loadCallsSuite(): Promise<Suite> {
  const { contenders, missing }: Field = await loadField();
  return defineSuite({
    name: 'calls',
    about:
      'A call that succeeds at once, of work that does nothing, under one policy: 4 attempts, a breaker, 30 s for an attempt, an abort. Who cannot do one of ' +
      'these leaves it out, and is cheaper for it. Nobody listens to events.',
    baseline: bare.name,
    subjects: contenders.map((contender) => {
      const cases: Record<string, Case> = {
        [plain]: inTurn(contender),
        ...(contender.hasSignal ? { [signal]: withSignal(contender) } : {}),
        [alone]: sparse(contender, bare),
        [memory]: allocates(contender),
      };
      return { name: contender.name, about: contender.about, cases };
    }),
    missing,
    targets: [
      against('opossum', plain, 'call cpu', 0.35),
      against('cockatiel', plain, 'call cpu', 0.05),
      against('timer', signal, 'call cpu', 1.3),
      against('opossum', alone, 'cpu over bare', 1),
      {
        says: 'bytes allocated by a call',
        of: { subject: 'unwedge', case: memory, metric: 'allocated' },
        by: 'median',
        atMost: 700,
      },
    ],
  });
}

function against(subject: string, of: string, metric: string, atMost: number) {
  return {
    says: `${metric}, ${of}, against ${subject}`,
    of: { subject: 'unwedge', case: of, metric },
    over: { subject, case: of, metric },
    atMost,
  };
}
