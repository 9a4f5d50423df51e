import { readFileSync } from 'node:fs';
import type { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { FactOf } from '../../../../src/policy/facts/facts.ts';
import { startAcp, type StartOptions } from '../startAcp.ts';

type Rounds = Readonly<Record<string, Readonly<Record<string, readonly object[]>>>>;

/** Updates of one round of each agent whose model makes one call for ever, as they were recorded: `<ID>` is another one each time. */
const rounds = JSON.parse(
  readFileSync(new URL('../../../fixtures/agents/acpRounds.json', import.meta.url), 'utf8'),
) as Rounds;

/** A client whose first prompt is at an agent that says what it is given. */
async function startPrompt(options: StartOptions = {}) {
  const acp = await startAcp({ agent: { faults: [{ nth: 1, at: 'text', do: 'hang' }] }, ...options });
  const sessionId = await acp.open();
  acp.prompt('p', 'build it', sessionId);
  await acp.settle();
  let nth = 0;
  const say = async (updates: readonly object[], times = 1): Promise<void> => {
    for (let each = 0; each < times; each++) {
      nth++;
      for (const update of updates) {
        const told = JSON.parse(JSON.stringify(update).replaceAll('<ID>', `id-${nth}`)) as object;
        const message = { jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: told } };
        const stdout = acp.agents[0]?.stdout as PassThrough | undefined;
        stdout?.write(`${JSON.stringify(message)}\n`);
      }
    }
    await acp.settle();
  };
  const steps = (): readonly string[] =>
    (acp.facts('session.spinning') as FactOf<'session.spinning'>[]).map(({ step, form }) => `${step} ${form}`);
  return { ...acp, sessionId, say, steps };
}

const failing = [
  ['claude', 'fails'],
  ['claude', 'reads'],
  ['claude', 'mcp'],
  ['codex', 'fails'],
  ['codex', 'execute'],
  ['goose', 'fails'],
  ['opencode', 'fails'],
  ['opencode', 'reads'],
  ['opencode', 'mcp'],
  ['copilot', 'fails'],
  ['copilot', 'reads'],
  ['copilot', 'mcp'],
] as const;

const call = (fields: object): readonly object[] => [
  { sessionUpdate: 'tool_call', toolCallId: '<ID>', title: 'Write a.ts', kind: 'edit', status: 'pending' },
  { sessionUpdate: 'tool_call_update', toolCallId: '<ID>', ...fields },
];
const text = (said: string) => [{ type: 'content', content: { type: 'text', text: said } }];

describe('a prompt whose agent makes one call for ever', () => {
  it('[G-15] [A-3] ends where a command of a terminal fails without a word, as its exit code says why', async () => {
    const { say, steps } = await startPrompt();
    const silent = (code: number) =>
      call({ status: 'failed', rawInput: { command: 'exit' }, _meta: { terminal_exit: { exit_code: code } } });
    await say(silent(3), 19);
    expect(steps()).toEqual(['notice failure', 'tell failure']);
    await say(silent(3));
    expect(steps().at(-1)).toBe('end failure');
  });

  it.each(failing)('[G-15] [A-3] of %s (%s) ends at the twentieth failure', async (agent, kind) => {
    const { say, steps, answer, heard, settle } = await startPrompt();
    await say(rounds[agent]?.[kind] ?? [], 19);
    expect(answer('p')).toBeUndefined();
    await say(rounds[agent]?.[kind] ?? []);
    await settle();
    expect(answer('p')).toMatchObject({
      error: { data: { 'unwedge/failure': { kind: 'spinning', retryable: false } } },
    });
    expect(JSON.stringify(answer('p'))).toContain('was called 20 times with the same arguments');
    expect(steps()).toEqual(['notice failure', 'tell failure', 'end failure']);
    expect(heard().filter(({ method }) => method === 'session/cancel')).toHaveLength(1);
  });

  it('[G-15] [A-3] is told of its client once; the session goes on, and its circuit stays closed', async () => {
    const { say, answers, prompt, answer, sessionId, clock, facts, texts } = await startPrompt();
    await say(rounds['goose']?.['fails'] ?? [], 30);
    expect(answers('p')).toHaveLength(1);
    await clock.advance(5000);
    prompt('again', 'hello', sessionId);
    await clock.advance(5000);
    expect(answer('again')).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(facts('breaker.opened')).toEqual([]);
    // No word is put into the mouth of the agent.
    expect(texts(sessionId)).not.toContain('unwedge');
  });

  it('[G-15] is told of where its calls succeed, and goes on', async () => {
    const written = call({ status: 'completed', rawInput: { path: 'a.ts' }, content: text('written') });
    for (const updates of [written, rounds['codex']?.['succeeds'] ?? []]) {
      const { say, steps, answer } = await startPrompt();
      await say(updates, 60);
      expect(steps()).toEqual(['notice success']);
      expect(answer('p')).toBeUndefined();
    }
  });

  it('[G-15] is told of equal reads, which end it only where that is chosen', async () => {
    const read = call({ kind: 'read', status: 'completed', rawInput: { path: 'a.ts' }, content: text('the same') });
    const usual = await startPrompt();
    await usual.say(read, 40);
    expect(usual.steps()).toEqual(['notice read', 'tell read']);
    expect(usual.answer('p')).toBeUndefined();
    const held = await startPrompt({ spinning: 'hold' });
    await held.say(read, 20);
    expect(held.answer('p')).toMatchObject({ error: { data: { 'unwedge/failure': { kind: 'spinning' } } } });
  });

  it.each([
    ['does not say why they failed', { status: 'failed', rawInput: { path: 'a.ts' } }],
    ['does not say what was called', { title: undefined, status: 'failed', content: text('not found') }],
  ])('[G-15] is only told of where its agent %s', async (_, fields) => {
    const { say, steps, answer } = await startPrompt();
    const [first, second] = call(fields);
    const told = 'title' in fields ? [second ?? {}] : [first ?? {}, second ?? {}];
    await say(told, 40);
    expect(answer('p')).toBeUndefined();
    expect(steps()).toEqual(['notice failure']);
  });

  it('[G-15] counts sub-agents apart', async () => {
    const { say, answer } = await startPrompt();
    for (const parentToolUseId of ['a', 'b', undefined]) {
      const by = { _meta: { claudeCode: { parentToolUseId } } };
      await say(call({ status: 'failed', rawInput: { path: 'a.ts' }, content: text('no'), ...by }), 15);
    }
    expect(answer('p')).toBeUndefined();
  });

  it('[G-15] is left alone with spinning off, by option and as configured', async () => {
    const off = { integrations: { faulty: { spinning: 'off' } } } as const;
    for (const options of [{ spinning: 'off' }, { policies: off }] as const) {
      const { say, steps, answer } = await startPrompt(options);
      await say(rounds['goose']?.['fails'] ?? [], 60);
      expect(steps()).toEqual([]);
      expect(answer('p')).toBeUndefined();
    }
  });

  it('[G-15] is not ended by what an earlier prompt did', async () => {
    const { say, answer, prompt, sessionId, cancel, settle, clock } = await startPrompt({
      agent: { faults: [{ at: 'text', do: 'hang' }] },
    });
    await say(rounds['goose']?.['fails'] ?? [], 15);
    cancel(sessionId);
    await clock.advance(100);
    expect(answer('p')).toMatchObject({ result: { stopReason: 'cancelled' } });
    prompt('next', 'hello', sessionId);
    await settle();
    await say(rounds['goose']?.['fails'] ?? [], 15);
    expect(answer('next')).toBeUndefined();
  });
});
