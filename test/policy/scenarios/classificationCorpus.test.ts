import { describe, expect, it } from 'vitest';
import { mayRetry } from '../../../src/policy/failures/repetition.ts';
import { corpus, type CorpusRow, factsOf } from '../corpus/corpusInput.ts';

const usual = { repeatAfter: 'broken', retryUnknown: false } as const;

/** What is wrong with what was found out about each row, in words. */
async function misses(rows: readonly CorpusRow[]) {
  const found = await Promise.all(
    rows.map(async (row) => {
      const facts = await factsOf(row);
      const isKind = row.kind === null || (facts.kind === row.kind && (row.reason ?? facts.reason) === facts.reason);
      const isHint = row.retryAfterMs === undefined || facts.retryAfterMs === row.retryAfterMs;
      const repeats = mayRetry(facts, undefined, usual);
      return {
        kind: isKind ? undefined : `${row.name}: ${facts.kind} ${facts.reason ?? ''}`,
        hint: isHint ? undefined : `${row.name}: ${facts.retryAfterMs}`,
        permission: row.mayRepeat === false && repeats ? `${row.name}: ${facts.kind}, ${facts.outcome}` : undefined,
        refusal: row.mayRepeat === true && !repeats ? `${row.name}: ${facts.kind}, ${facts.outcome}` : undefined,
        outcome: (row.outcome ?? facts.outcome) === facts.outcome ? undefined : `${row.name}: ${facts.outcome}`,
      };
    }),
  );
  const all = (key: keyof (typeof found)[number]) =>
    found.map((each) => each[key]).filter((each) => each !== undefined);
  return {
    kind: all('kind'),
    hint: all('hint'),
    permission: all('permission'),
    refusal: all('refusal'),
    outcome: all('outcome'),
  };
}

describe.each(['./errors.json', './blind.json'])(
  'failures as they were met, labelled by one who knew the requirement alone: %s',
  (file) => {
    const rows = corpus(file).filter(({ disputed }) => disputed === undefined);

    it('[R-5] get the right kind in at least 95 of 100 cases', async () => {
      const { kind } = await misses(rows);
      const judged = rows.filter((row) => row.kind !== null).length;
      // Beside the share, so that a failure names what was missed.
      expect(kind.length <= 0.05 * judged ? [] : kind).toEqual([]);
    });

    it('[R-12] never give permission to repeat what may have happened', async () => {
      expect((await misses(rows)).permission).toEqual([]);
    });

    it('[R-3] give the hint that they hold', async () => {
      expect((await misses(rows)).hint).toEqual([]);
    });
  },
);

describe('words of clients, languages and services, and of programs that are well', () => {
  it('[R-5] [R-12] get their kind, and permission where the table gives it', async () => {
    const { kind, permission, refusal } = await misses(corpus('./forms.json'));
    expect({ kind, permission, refusal }).toEqual({ kind: [], permission: [], refusal: [] });
  });
});

describe('what the clients of this field throw, as it was captured', () => {
  const rows = corpus('./clients.json');

  it('[R-5] [R-12] gets its kind, its effect and no false permission', async () => {
    const none = { kind: [], hint: [], permission: [], refusal: [], outcome: [] };
    expect(await misses(rows)).toEqual(none);
  });
});
