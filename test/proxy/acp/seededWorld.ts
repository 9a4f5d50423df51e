import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AcpFaultRule, InProcessAcpAgentOptions } from '../../../testing/index.ts';
import { seededRandom } from '../../../testing/index.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { startAcp } from './startAcp.ts';

const minute = 60_000;
const agents = ['goose', 'gemini', 'opencode', 'copilot', 'claude', 'codex'] as const;
const overloaded = 'Ran into this error: Server error: 529 Overloaded';

/** Plays a client of an agent that goes wrong by the seed, on simulated time. @returns what was not as it must be. */
export async function playSeed(seed: number): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const directory = temporaryDirectory();
  const effects = join(directory, 'effects');
  const faults: readonly AcpFaultRule[] = [
    { at: 'before', do: 'crash', signal: 'SIGKILL', chance: 0.05 },
    { at: 'text', do: 'crash', when: oneOf(['before', 'half', 'after']), chance: 0.1 },
    { at: 'tool', do: 'crash', exitCode: 0, chance: 0.1 },
    { at: 'end', do: 'crash', when: oneOf(['before', 'half', 'unterminated', 'after']), chance: 0.1 },
    { at: oneOf(['before', 'text', 'tool', 'end']), do: 'hang', scope: oneOf(['message', 'agent']), chance: 0.15 },
    { at: 'before', do: 'stop', text: overloaded, chance: 0.1 },
    { at: 'text', do: 'error', code: oneOf([-32_603, 429, 401]), chance: 0.05 },
    { on: 'session/cancel', do: 'hang', chance: 0.3 },
    { on: 'session/cancel', do: 'late', answer: oneOf(['before', 'after', 'never']), chance: 0.3 },
    { at: 'end', do: 'duplicate_answer', chance: 0.1 },
    { on: 'session/load', do: oneOf(['error', 'crash']), chance: 0.05 },
    { on: 'initialize', do: 'slow', ms: 4000, chance: 0.2 },
    { do: 'noise', newline: random() < 0.5, chance: 0.1 },
    { do: 'strange', what: 'update', chance: 0.1 },
  ];
  const like = oneOf(agents);
  const stateFile = join(directory, 'state.json');
  const agent = (start: number): InProcessAcpAgentOptions => ({ faults, like, stateFile, seed: seed * 100 + start });
  const acp = await startAcp({ agent });
  const session = await acp.open();
  const asked: number[] = [];
  const wrong: string[] = [];
  for (let id = 1; id <= 12; id++) {
    acp.prompt(
      id,
      `say token-${id}-a; append ${effects} effect-${id}; wait ${oneOf([0, 1, 500])}; say token-${id}-b`,
      session,
    );
    asked.push(id);
    if (random() < 0.3) {
      await acp.clock.advance(oneOf([0, 1000, 20_000]));
      acp.cancel(session);
      await acp.clock.advance(6000);
      const open = asked.filter((each) => acp.answers(each).length === 0);
      if (open.length > 0) wrong.push(`no answer to ${open.join(', ')} within 6 s of a cancel`);
    } else await acp.clock.advance(oneOf([0, 30_000, 17 * minute]));
  }
  // The circuit may be open for a while; a turn has its 15 minutes, and an agent that does not end one its 10 s.
  await acp.clock.advance(12 * 17 * minute);
  for (const id of asked) {
    const { length } = acp.answers(id);
    if (length !== 1) wrong.push(`${length} answers to ${id}`);
  }
  const shown = acp.texts(session);
  const done = existsSync(effects) ? readFileSync(effects, 'utf8') : '';
  for (const id of asked) {
    for (const token of [`token-${id}-a`, `token-${id}-b`]) {
      const times = shown.split(token).length - 1;
      if (times > 1) wrong.push(`${token} was shown ${times} times`);
    }
    const times = done.split('\n').filter((line) => line === `effect-${id}`).length;
    if (times > 1) wrong.push(`effect-${id} was done ${times} times`);
    const [answer] = acp.answers(id);
    const isWell = answer?.result?.['stopReason'] === 'end_turn';
    if (isWell && !shown.includes(`token-${id}-b`) && !shown.includes('cannot load'))
      wrong.push(`${id} ended well without its text`);
  }
  return wrong;
}
