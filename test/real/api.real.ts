import { describe, expect, it } from 'vitest';
import { seededRandom, type ModelAnswer } from '../../testing/index.ts';
import { hasClaude } from './claudeEnv.ts';
import { hasCodex } from './codexEnv.ts';
import { claudeThroughApi, codexThroughApi, effect } from './startRealApi.ts';

const says = { text: 'all of it is done' } as const;
const bash = { name: 'Bash', input: { command: effect, description: 'append' } };
const exec = { name: 'exec_command', input: { cmd: effect } };

/** What may go wrong before a good answer, at random. */
function storm(seed: number, count: number): readonly ModelAnswer[] {
  const random = seededRandom(seed);
  const faults: readonly ModelAnswer[] = [
    { do: 'reset' },
    { do: 'refuse', status: 529 },
    { do: 'refuse', status: 503 },
    { until: 'headers', then: 'reset' },
    { until: 'headers', then: 'end' },
    { until: 'start', then: 'close' },
  ];
  return Array.from({ length: count }, () => faults[Math.floor(random() * faults.length)] ?? {});
}

describe.skipIf(!hasClaude)('the real claude through unwedge api', () => {
  it('[E-7] gets an answer as if nothing stood between', async () => {
    const { code, stdout, started } = await claudeThroughApi([says]);
    expect(code).toBe(0);
    expect(stdout).toContain('all of it is done');
    expect(started.of('call.failed')).toEqual([]);
  });

  it('[E-7] succeeds when the API says 529 ten times', async () => {
    const { code, started, stdout } = await claudeThroughApi([{ do: 'refuse', status: 529, times: 10 }, says]);
    expect(code).toBe(0);
    expect(stdout).not.toContain('api_retry');
    expect(started.api.requests.filter(({ method }) => method === 'POST')).toHaveLength(11);
  });

  it('[E-7] succeeds when a stream falls silent in its text', async () => {
    const { code, hung, stdout } = await claudeThroughApi([{ until: 'text', then: 'stall' }, says]);
    expect({ code, hung }).toEqual({ code: 0, hung: false });
    expect(stdout).toContain('all of it is done');
  });

  it('[E-7] runs a tool once when a stream is cut in the middle of its call', async () => {
    const { code, effects, stdout } = await claudeThroughApi([
      { text: 'I look.', tool: bash, until: 'tool', then: 'reset' },
      { text: 'Again.', tool: bash },
      says,
    ]);
    expect({ code, effects }).toEqual({ code: 0, effects: 1 });
    expect(stdout).toContain('all of it is done');
  });

  it('[E-7] runs a tool once when a stream is cut after its call', async () => {
    // On a busy machine it may not have read the call: it asks again then, and a model calls until it sees the result.
    const { code, effects } = await claudeThroughApi(({ body }, number) => {
      if (body.includes('"tool_result"')) return says;
      return number === 0
        ? { text: 'I look.', tool: bash, until: 'content', then: 'close' }
        : { text: 'Again.', tool: bash };
    });
    expect({ code, effects }).toEqual({ code: 0, effects: 1 });
  });

  it('[E-7] goes on at once when the body stays open after the last event', async () => {
    const { code, elapsedMs } = await claudeThroughApi([{ ...says, then: 'open' }]);
    expect(code).toBe(0);
    expect(elapsedMs).toBeLessThan(25_000);
  });

  it('[E-7] survives an upstream that flaps after its first block, for which it has three lives', async () => {
    const flap: ModelAnswer = { text: 'One block.', until: 'content', then: 'reset', times: 3 };
    const { code, stdout } = await claudeThroughApi([flap, says]);
    expect(code).toBe(0);
    expect(stdout).toContain('all of it is done');
  });

  it.each([1, 2, 3])('[E-7] succeeds whatever fails before the first byte, seed %d', async (seed) => {
    const { code, effects } = await claudeThroughApi([
      ...storm(seed, 8),
      { text: 'I look.', tool: bash },
      ...storm(seed + 100, 8),
      says,
    ]);
    expect({ code, effects }).toEqual({ code: 0, effects: 1 });
  });
});

describe.skipIf(!hasCodex)('the real codex through unwedge api', () => {
  it('[E-7] is told to ask by HTTP, and gets its answer', async () => {
    const { code, stdout, started } = await codexThroughApi([says]);
    expect(code).toBe(0);
    expect(stdout).toContain('all of it is done');
    expect(stdout).not.toContain('Reconnecting');
    expect(started.api.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('[E-7] succeeds when the API says 529 ten times, and 429 without a hint, of which it would die', async () => {
    const { code, stdout } = await codexThroughApi([
      { do: 'refuse', status: 529, times: 10 },
      { do: 'refuse', status: 429 },
      says,
    ]);
    expect(code).toBe(0);
    expect(stdout).not.toContain('Reconnecting');
  });

  it('[E-7] goes on when a stream falls silent in its text, and says why', async () => {
    const { code, hung, stdout } = await codexThroughApi([{ until: 'text', then: 'stall' }, says]);
    expect({ code, hung }).toEqual({ code: 0, hung: false });
    expect(stdout).toMatch(/unwedge: 127\.0\.0\.1:\d+ sent nothing for 3s/);
    expect(stdout).toContain('all of it is done');
  });

  it('[E-7] runs a command once when a stream is cut in the middle of its call, and after it', async () => {
    const { code, effects } = await codexThroughApi([
      { text: 'I look.', tool: exec, until: 'tool', then: 'reset' },
      { text: 'Again.', tool: exec, until: 'content', then: 'close' },
      says,
    ]);
    expect({ code, effects }).toEqual({ code: 0, effects: 1 });
  });

  it.each([1, 2])('[E-7] succeeds whatever fails before the first byte, seed %d', async (seed) => {
    const { code, effects } = await codexThroughApi([
      ...storm(seed, 8),
      { text: 'I look.', tool: exec },
      ...storm(seed + 100, 8),
      says,
    ]);
    expect({ code, effects }).toEqual({ code: 0, effects: 1 });
  });
});
