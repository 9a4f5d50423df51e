import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { repairTranscript } from '../../../transcript/index.ts';
import {
  anthropicHistory,
  blockDamages,
  chatHistory,
  damages,
  type Fields,
  responsesHistory,
  sessionHistory,
} from '../damaged.ts';
import {
  acceptAnthropic,
  acceptOpenAiChat,
  acceptOpenAiResponses,
  acceptSession,
  alternates,
  lostParents,
} from '../validators.ts';

/** Everything in a history that says that it is a real result, for calls that are in it, too. */
function realResults(history: readonly Fields[]): string[] {
  const text = JSON.stringify(history);
  const called = new Set([...text.matchAll(/(?:"id"|_call","call_id"):"((?:toolu|call)_\d+)"/g)].map(([, id]) => id));
  return [...new Set(text.match(/real (?:toolu|call)_\d+/g) ?? [])].filter((real) => called.has(real.slice(5))).sort();
}

const runs = { numRuns: 300 };

describe.each([
  { format: 'anthropic', history: anthropicHistory, accept: acceptAnthropic },
  { format: 'openai-chat', history: chatHistory, accept: acceptOpenAiChat },
  { format: 'openai-responses', history: responsesHistory, accept: acceptOpenAiResponses },
  { format: 'claude-code', history: sessionHistory, accept: acceptSession },
] as const)('a repaired history of $format', ({ format, history, accept }) => {
  const damagedHistory = fc
    .tuple(history, damages, format === 'anthropic' ? blockDamages : fc.constant((list: Fields[]) => list))
    .map(([whole, harm, harmBlocks]) => harmBlocks(harm(whole)));

  it('[G-12] is accepted, whatever the damage was', () => {
    fc.assert(
      fc.property(damagedHistory, (damaged) => {
        expect(() => accept(repairTranscript(damaged, { format }).history)).not.toThrow();
      }),
      runs,
    );
  });

  it('[G-12] has every real result whose call it has', () => {
    fc.assert(
      fc.property(damagedHistory, (damaged) => {
        expect(realResults(repairTranscript(damaged, { format }).history)).toEqual(realResults(damaged));
      }),
      runs,
    );
  });

  it('[G-12] is not changed by another repair', () => {
    fc.assert(
      fc.property(damagedHistory, (damaged) => {
        const once = repairTranscript(damaged, { format });
        const twice = repairTranscript(once.history, { format });
        expect({ repairs: twice.repairs, history: twice.history }).toEqual({ repairs: 0, history: once.history });
      }),
      runs,
    );
  });

  it('[G-12] is the very history that was given when that was well-formed', () => {
    fc.assert(
      fc.property(history, (whole) => {
        accept(whole);
        const { history: same, repairs } = repairTranscript(whole, { format });
        expect(repairs).toBe(0);
        expect(same).toBe(whole);
      }),
      runs,
    );
  });

  it('[G-12] leaves what was given as it was', () => {
    fc.assert(
      fc.property(damagedHistory, (damaged) => {
        const before = JSON.stringify(damaged);
        repairTranscript(damaged, { format });
        expect(JSON.stringify(damaged)).toBe(before);
      }),
      runs,
    );
  });
});

it('[G-12] messages of Anthropic that took turns still do', () => {
  fc.assert(
    fc.property(anthropicHistory, blockDamages, (whole, harm) => {
      const damaged = harm(whole);
      expect(alternates(repairTranscript(damaged, { format: 'anthropic' }).history)).toBe(true);
    }),
    runs,
  );
});

it('[G-12] the chains of a session are cut nowhere else than before', () => {
  fc.assert(
    fc.property(sessionHistory, damages, (whole, harm) => {
      const damaged = harm(whole);
      const before = new Set(lostParents(damaged));
      expect(
        lostParents(repairTranscript(damaged, { format: 'claude-code' }).history).filter((each) => !before.has(each)),
      ).toEqual([]);
    }),
    runs,
  );
});
