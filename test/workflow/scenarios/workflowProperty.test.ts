import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { type Backend, eventsOf, failing, item, never, planOf, startWorkflow, untilAborted } from '../startWorkflow.ts';

type Deed = 'done' | 'slow' | 'transient' | 'once' | 'permanent' | 'auth' | 'hangs' | 'ignores';
type Step = 'fine' | 'throws' | 'hangs' | 'ignores';

const deeds: readonly Deed[] = ['done', 'slow', 'transient', 'once', 'permanent', 'auth', 'hangs', 'ignores'];
const steps = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>('fine') },
  { weight: 1, arbitrary: fc.constantFrom<Step>('throws', 'hangs', 'ignores') },
);
const effect = fc.constantFrom(undefined, 'readOnly', 'idempotent', 'mutating' as const);

const world = fc.record({
  /** Of each item the ones before it that it needs, what it does to the world, and what each backend meets. */
  items: fc.array(
    fc.record({
      needs: fc.array(fc.nat(7), { maxLength: 3 }),
      effect,
      deeds: fc.array(fc.constantFrom(...deeds), { minLength: 3, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  backends: fc.array(fc.record({ plan: steps, summary: steps, size: fc.integer({ min: 1, max: 8 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  concurrency: fc.integer({ min: 1, max: 5 }),
  overallMs: fc.constantFrom(10_000, 400_000, 1_800_000),
  disturbance: fc.constantFrom('none', 'none', 'cancel', 'stop'),
  afterMs: fc.constantFrom(0, 1, 1000, 300_000),
});

const kinds = { transient: 'transient', permanent: 'permanent', auth: 'auth' } as const;

describe('a run of any workflow', () => {
  it('[W-1] [W-3] [W-4] [I-1] [I-3] ends once, each item once, and leaves no timer', async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ items, backends, concurrency, overallMs, disturbance, afterMs }) => {
        let atWork = 0;
        let most = 0;
        const begun = new Map<string, number[]>();
        const made = backends.map(({ plan, summary, size }, place): Backend => {
          const doStep = (step: Step, signal: AbortSignal): undefined | Promise<never> => {
            if (step === 'throws') return failing('permanent');
            return step === 'fine' ? undefined : step === 'hangs' ? untilAborted(signal) : never();
          };
          return {
            name: `b${place}`,
            async plan(_input, { signal }) {
              await doStep(plan, signal);
              return planOf(
                ...items.slice(0, size).map((each, index) =>
                  item(`i${index}`, index === 0 ? [] : each.needs.map((need) => `i${need % index}`), {
                    effect: each.effect,
                  }),
                ),
              );
            },
            async item({ id }, { attempt, signal }) {
              begun.set(id, [...(begun.get(id) ?? []), place]);
              const deed = items[Number(id.slice(1))]?.deeds[place] ?? 'done';
              let isGivenUp = false;
              most = Math.max(most, ++atWork);
              // Its work is given up with its call, and counts no longer.
              const giveUp = (): void => {
                isGivenUp = true;
                atWork--;
              };
              signal.addEventListener('abort', giveUp, { once: true });
              try {
                if (deed === 'slow')
                  await new Promise((resolve) => started.clock.setTimeout(() => resolve(undefined), 700));
                if (deed === 'once' && attempt === 1) failing('transient');
                if (deed === 'hangs') await untilAborted(signal);
                if (deed === 'ignores') await never();
                if (deed in kinds) failing(kinds[deed as keyof typeof kinds]);
                return `${id} by ${place}`;
              } finally {
                if (!isGivenUp) atWork--;
              }
            },
            async summary(results, { signal }) {
              await doStep(summary, signal);
              return `${results.length}`;
            },
          };
        });
        const started = await startWorkflow(made, { concurrency, overallMs });
        const { clock, gateway, workflow, facts } = started;
        const idle = clock.pending;
        const run = workflow.run('input');
        const events = eventsOf(run);
        await clock.advance(afterMs);
        if (disturbance === 'cancel') run.cancel();
        const stopping = disturbance === 'stop' ? gateway.stop() : undefined;
        await clock.advance(overallMs);
        const outcome = await run.outcome;

        const told = await events;
        const ends = told.filter(({ type }) => type === 'workflow_ended');
        expect(ends).toHaveLength(1);
        expect(ends[0]).toBe(told.at(-1));
        expect(ends[0]?.data).toMatchObject({ status: outcome.status, backend: outcome.backend });
        expect(outcome.elapsedMs).toBeLessThanOrEqual(overallMs);
        expect(most).toBeLessThanOrEqual(concurrency);
        // Each backend ends each item of its plan at most once.
        const itemEnds = told.flatMap((event) =>
          event.type === 'workflow_item' && !['running', 'retrying'].includes(event.data.status)
            ? [`${event.data.backend}/${event.data.id}`]
            : [],
        );
        expect(new Set(itemEnds).size).toBe(itemEnds.length);
        const ids = outcome.items.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const isDone = new Map(outcome.items.map(({ id, status }) => [id, status === 'done']));
        for (const result of outcome.items) {
          if (result.status !== 'skipped') continue;
          for (const id of result.because) expect(isDone.get(id)).toBe(false);
        }
        const undone = outcome.items.filter(({ status }) => status !== 'done').length;
        expect(outcome.status === 'succeeded' && undone > 0).toBe(false);
        expect(outcome.status === 'partial' && undone === 0).toBe(false);
        expect(outcome.failure === undefined).toBe(outcome.status === 'succeeded' || outcome.status === 'partial');
        // What may change something is not begun by a second backend while it is not known what the first one did of it.
        for (const [id, places] of begun) {
          const index = Number(id.slice(1));
          const [first = 0] = places;
          const lost = ['hangs', 'ignores'].includes(items[index]?.deeds[first] ?? '');
          const isAlone = items[index]?.effect === 'mutating' && lost;
          expect(isAlone ? places.length : 1).toBe(1);
        }
        const starts = facts.filter(({ type }) => type.endsWith('.started') && type.startsWith('workflow.')).length;
        const stops = facts.filter(({ type }) => /^workflow\.\w+\.(completed|failed)$/.test(type)).length;
        expect(stops).toBe(starts);

        await clock.advance(10_000);
        await stopping;
        expect(clock.pending).toBe(disturbance === 'stop' ? 0 : idle);
        expect(JSON.stringify(gateway.tree())).not.toContain(run.id);
        await gateway.stop();
      }),
      { numRuns: 150 },
    );
  });
});
