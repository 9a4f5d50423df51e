import { describe, expect, it } from 'vitest';
import { type AcpFaultRule, faultyAcpAgent } from '../../../testing/index.ts';
import type { InstalledAgent } from './agents.ts';
import { main } from '../../cli/startRun.ts';
import { acpCell, type Cell } from './cell.ts';
import { faults } from './faults.ts';
import { troubles } from './judge.ts';

/** An agent that is made to fail by itself, and asks no model. */
function standIn(...rules: readonly AcpFaultRule[]): InstalledAgent {
  const { command, args } = faultyAcpAgent({ faults: rules });
  const [program = '', ...rest] = args;
  const built = program.replace(/([/\\])(testing[/\\][^/\\]+)$/, '$1dist$1$2');
  return {
    name: 'stand-in',
    version: '1',
    package: '',
    programs: [],
    words: [command, built, ...rest],
    acp: [],
    env: () => ({}),
  };
}

function run(name: string, agent: InstalledAgent, front: readonly string[] = []): Promise<Cell> {
  const fault = faults.find((each) => each.name === name);
  if (fault === undefined) throw new RangeError(name);
  return acpCell(agent, fault, { patienceMs: front.length === 0 ? 4000 : 30_000, front, node: process.execPath });
}

describe('the harness of npm run fire', () => {
  it.each([
    ['ok', [], { prompts: [{ end: 'end_turn', answers: 1 }], left: [] }, []],
    [
      'cut',
      [{ nth: 1, do: 'error', code: -32603, message: 'cut' }],
      { prompts: [{ end: 'error -32603: cut', answers: 1 }] },
      [],
    ],
    ['refused', [{ nth: 1, do: 'stop' }], { prompts: [{ end: 'end_turn' }] }, ['untrue']],
    [
      'silent',
      [{ nth: 1, at: 'text', do: 'hang' }],
      { prompts: [{ end: 'none', answers: 0 }] },
      ['untrue', 'not answered once'],
    ],
    ['cancel', [{ nth: 1, at: 'text', do: 'hang' }], { prompts: [{ end: 'cancelled', answers: 1 }] }, []],
    ['limited', [{ nth: 1, do: 'duplicate_answer' }], { prompts: [{ answers: 2 }] }, ['untrue', 'not answered once']],
    ['killed', [{ at: 'text', do: 'hang' }, { do: 'child' }], { prompts: [{ end: 'closed', answers: 0 }] }, ['left']],
    ['stdin', [{ at: 'text', do: 'hang' }], { exit: expect.stringMatching(/^exit 0/) as unknown }, []],
    [
      'silent in text',
      [
        { nth: 1, do: 'child', detached: true },
        { nth: 1, do: 'error', message: 'x' },
      ],
      { left: [expect.any(String)] },
      ['left'],
    ],
  ] as const)('[A-9] sees what a stand-in does: %s', async (fault, rules, seen, found) => {
    const cell = await run(fault, standIn(...(rules as readonly AcpFaultRule[])));
    expect(cell).toMatchObject(seen);
    // It says prompts back, and knows nothing of the model's text.
    expect(troubles(cell).filter((each) => each !== 'does not go on')).toEqual(found);
  });

  it.each([
    ['silent', [{ nth: 1, at: 'text', do: 'hang' }], /^error .*No progress within 8s/],
    [
      'cancel',
      [
        { nth: 1, at: 'text', do: 'hang' },
        { on: 'session/cancel', do: 'hang' },
      ],
      /^cancelled$/,
    ],
    [
      'killed',
      [
        { nth: 1, at: 'text', do: 'hang' },
        { nth: 1, do: 'child', detached: true },
      ],
      /^error .*ended by SIGKILL/,
    ],
    ['deaf', [{ nth: 1, at: 'text', do: 'hang' }], /^cancelled$/],
    ['stdin', [{ nth: 1, at: 'text', do: 'hang' }], /./],
  ] as const)('[A-9] sees the same stand-in end truly behind unwedge acp: %s', async (fault, rules, end) => {
    const front = [process.execPath, main, 'acp', '--idle-timeout', '8s', '--'];
    const cell = await run(fault, standIn(...(rules as readonly AcpFaultRule[])), front);
    expect(cell.prompts).toEqual([
      { end: expect.stringMatching(end) as unknown, answers: 1, seconds: expect.any(Number) as unknown },
    ]);
    expect(troubles(cell).filter((each) => each !== 'does not go on')).toEqual([]);
  });
});
