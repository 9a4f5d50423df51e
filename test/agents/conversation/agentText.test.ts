import { describe, expect, it } from 'vitest';
import { createTextFlow } from '../../../agents/conversation/agentText.ts';

describe('the text of a turn', () => {
  it('[U-4] of more than a megabyte is said once, piece by piece', () => {
    const pieces: string[] = [];
    const flow = createTextFlow((event) => pieces.push(event.type === 'text' ? event.text : ''));
    const whole = 'x'.repeat(1_048_577);
    for (let from = 0; from < whole.length; from += 262_144) flow.say(whole.slice(from, from + 262_144));
    flow.say('END');
    flow.complete(`${whole}END`);
    flow.complete('and more');
    expect(pieces.join('') === `${whole}END\n\nand more`).toBe(true);
  });
});
