import { describe, expect, it } from 'vitest';
import { startAcp } from '../startAcp.ts';

const tenMinutes = 600_000;
const agents = ['goose', 'gemini', 'opencode', 'copilot', 'claude', 'codex'] as const;
/** Silences that are none: a tool that works, a model that thinks, a person who is asked, a tool that was allowed. */
const silences = ['tool build 600', 'think 600', 'wait 600', 'ask edit', 'ask build 600'] as const;

describe('healthy silences behind unwedge acp', () => {
  it.each(agents.flatMap((like) => silences.map((silence) => [silence, like] as const)))(
    '[A-3] `%s` of an agent like %s is not ended',
    async (silence, like) => {
      const acp = await startAcp({ agent: { like } });
      const session = await acp.open();
      acp.prompt(1, `say before; ${silence}; say after`);
      const asks = silence === 'ask edit';
      await acp.clock.advance(asks ? tenMinutes : 1000);
      const question = acp.messages.find(({ method }) => method === 'session/request_permission');
      expect(acp.answer(1)).toBeUndefined();
      if (question !== undefined)
        acp.send({ id: question.id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } });
      await acp.clock.advance(tenMinutes);
      expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'end_turn' } }]);
      expect(acp.texts(session)).toBe('beforeafter');
      expect(acp.agents).toHaveLength(1);
    },
  );
});
