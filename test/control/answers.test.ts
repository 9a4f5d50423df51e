import { describe, expect, it } from 'vitest';
import { readStatusAnswer, readTreeAnswer } from '../../src/control/answers.ts';

const integration = { integration: 'kb', state: 'open', circuit: 'open', inFlight: 0, waiting: 2, probeInMs: 1 };
const rated = { ...integration, rate: { of: 'requests', limit: 5, perMs: 60_000, waitMs: 12 } };
const session = { session: 'agent:main', state: 'idle', waiting: 0 };
const node = { id: 'kb', type: 'worker', state: 'running', incarnation: 1, restarts: 0, restart: 'permanent' };

describe('an answer of a runtime', () => {
  it('to `status` is read when it has the form of this version', () => {
    const answer = { integrations: [integration, rated], sessions: [session] };
    expect(readStatusAnswer(answer)).toEqual(answer);
  });

  it('[L-5] has a number that is none as null, as JSON has it, where it may be missing', () => {
    const answer = { integrations: [{ ...integration, probeInMs: null, pausedForMs: null }], sessions: [session] };
    expect(readStatusAnswer(answer)).toEqual(answer);
    expect(readTreeAnswer({ ...node, nextRestartInMs: null })).toBeDefined();
  });

  it.each([
    [undefined],
    [{ integrations: [integration] }],
    [{ integrations: {}, sessions: [] }],
    [{ integrations: [{ ...integration, inFlight: '1' }], sessions: [] }],
    [{ integrations: [{ ...integration, circuit: undefined }], sessions: [] }],
    [{ integrations: [{ ...rated, rate: { of: 'requests', limit: 'many' } }], sessions: [] }],
    [{ integrations: [{ ...integration, rate: null }], sessions: [] }],
    [{ integrations: [{ ...integration, tools: null }], sessions: [] }],
    [{ integrations: [], sessions: [], groups: null }],
    [{ integrations: [], sessions: [{ session: 'agent:main' }] }],
  ])('to `status` is none when it reads %j', (answer) => {
    expect(readStatusAnswer(answer)).toBeUndefined();
  });

  it('to `tree` is read down to the last child', () => {
    const tree = { ...node, type: 'supervisor', children: [{ ...node, lastError: 'boom', details: { waiting: 1 } }] };
    expect(readTreeAnswer(tree)).toEqual(tree);
    expect(readTreeAnswer({ ...tree, children: [{ ...node, lastError: 1 }] })).toBeUndefined();
    expect(readTreeAnswer({ ...tree, children: [{ ...node, restarts: undefined }] })).toBeUndefined();
    expect(readTreeAnswer({ ...tree, children: 'none' })).toBeUndefined();
    expect(readTreeAnswer([])).toBeUndefined();
  });
});
