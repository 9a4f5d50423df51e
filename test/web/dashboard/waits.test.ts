import type { Question } from '../../../src/index.ts';
import { budgetSpentText, budgetWaitText } from '../../../src/policy/text/budgetText.ts';
import { describe, expect, it } from 'vitest';
import type { IntegrationLine } from '../../../web/dashboard/snapshot.ts';
import { SteadyTimes } from '../../../web/dashboard/steadyTimes.ts';
import { waitsOf, type WaitSources } from '../../../web/dashboard/waits.ts';
import type { AskedRuntime } from '../../../operator/askRuntimes.ts';
import type { SessionWhy } from '../../../src/sessions/why.ts';
import type { TreeNode } from '../../../src/supervisor/tree.ts';

const at = 1_000_000;

function waits(given: Partial<WaitSources>) {
  const none = {
    ...{ integrations: [], alerts: [], trees: [], whys: [], runtimes: [], frozenSince: new Map() },
    ...{ pending: { calls: 0, messages: 0 }, dead: [], letters: [], shown: (name: string) => name },
  };
  return waitsOf({ at, times: new SteadyTimes(), ...none, ...given });
}

const integration = (given: Partial<IntegrationLine>): IntegrationLine => ({
  ...{ key: 'kb', circuit: 'closed', inFlight: 0, waiting: 0, runtimes: ['r1'], failures10m: 0, crashes10m: 0 },
  ...given,
});

function tree(child: Partial<TreeNode>): AskedRuntime<TreeNode> {
  const node = { type: 'worker', state: 'running', incarnation: 1, restarts: 0, restart: 'permanent' } as const;
  const children = [{ ...node, id: 'mcp:browser', ...child }];
  const answer = { ...node, id: 'root', type: 'supervisor' as const, children };
  return { runtime: {} as AskedRuntime<TreeNode>['runtime'], answer, problem: undefined };
}

const busy: SessionWhy = {
  ...{ session: 'agent:main', state: 'processing', waiting: 0, heldElsewhere: false, calls: [], questions: [] },
  rules: [],
  turn: { turn: 1, message: 'm-1', kind: 'user', delivery: 1, sinceMs: 5000 },
  next: { id: 'turn-1', rule: 'turn', inMs: 295_000, what: 'the turn' },
};

const call = (phase: 'in_flight' | 'backoff', attempt: number, silentMs?: number): SessionWhy['calls'][number] => ({
  ...{ call: 'c1', integration: 'kb', tool: 'search', sinceMs: 4000 },
  progress: { phase, attempt, maxAttempts: 4, silentMs, next: { id: '1:backoff', rule: 'next_attempt', inMs: 4000 } },
});

describe('what waits', () => {
  it('[O-13] is nothing where all goes well', () => {
    expect(waits({ integrations: [integration({})], trees: [tree({})], whys: [busy] })).toEqual([]);
    expect(waits({ whys: [{ ...busy, calls: [call('in_flight', 1, 9999)] }] })).toEqual([]);
  });

  it('[G-17] [O-13] is first a question of the inbox, once, with what answers it and its deadline', () => {
    const question: Question = {
      ...{ id: 'a1', place: 'p', waiter: 'w', source: 'ask', asker: 'agent:main', session: 'agent:main' },
      ...{ what: 'which host?', form: { is: 'text' }, askedAt: at - 5000, deadlineAt: at + 60_000, state: 'open' },
    };
    const approval: Question = { ...question, id: 'a2', asker: 'deploys', session: undefined, detail: { host: 'a' } };
    const asked = { question: 'a1', inbox: true, what: 'which host?', sinceMs: 5000, deadlineInMs: 60_000 } as const;
    const found = waits({
      questions: [question, approval],
      whys: [{ ...busy, questions: [asked] }],
      integrations: [integration({ circuit: 'isolated' })],
    });
    expect(found).toMatchObject([
      {
        ...{ name: 'agent:main', of: 'session', needsPerson: true, sign: 'asks', text: 'Asks a person: which host?' },
        ...{ question: { id: 'a1', form: { is: 'text' } }, since: at - 5000, rule: 'Declined', endsAt: at + 60_000 },
      },
      { name: 'deploys', of: 'question', text: 'deploys asks a person: which host?', error: '{"host":"a"}' },
      { sign: 'isolated' },
    ]);
    expect(waits({ whys: [{ ...busy, questions: [{ ...asked, inbox: undefined }] }] })).toMatchObject([
      { text: 'Asks a person: which host?', rule: 'Given up' },
    ]);
  });

  it('[O-13] [G-15] [G-16] is a session that spins, with what was answered last, and one whose budget is spent', () => {
    const spinning = {
      tool: 'edit',
      id: '1',
      step: 'tell',
      form: 'failure',
      count: 6,
      message: 'edit was called 6 times',
      answer: 'no',
    } as const;
    const rest = { name: 'agent:main', of: 'session' };
    expect(waits({ whys: [{ ...busy, spinning }] })).toMatchObject([
      {
        ...rest,
        needsPerson: false,
        sign: 'spinning',
        text: 'edit was called 6 times.',
        error: 'no',
        endsAt: at + 295_000,
      },
    ]);
    const unpaid = { call: 'c1', integration: 'kb', tool: 'search', sinceMs: 4000, waitsFor: 'waits for its budget' };
    const budget = { needsPerson: true, sign: 'budget', order: 'budget' };
    expect(waits({ whys: [{ ...busy, next: undefined, calls: [unpaid] }] })).toMatchObject([
      { ...rest, ...budget, text: 'search waits for its budget.', target: undefined },
    ]);
    const standing = {
      scope: 'session:agent:main',
      per: 'day',
      metric: 'toolCalls',
      most: 2,
      used: 2,
      zone: 'UTC',
    } as const;
    const waitsFor = budgetWaitText({ ...standing, againAt: at });
    expect(waits({ whys: [{ ...busy, next: undefined, calls: [{ ...unpaid, waitsFor }] }] })).toMatchObject([
      { ...rest, ...budget, target: 'toolCalls=3' },
    ]);
  });

  it('[O-13] [G-16] is an alert of an integration whose budget is spent, which is raised from the row', () => {
    const text = budgetSpentText({
      scope: 'integration:-kb',
      per: 'day',
      metric: 'tokens',
      most: 2e6,
      used: 2e6,
      zone: 'UTC',
    });
    const alert = {
      key: '-kb',
      integration: '-kb',
      state: 'open',
      failures: 0,
      crashes: 0,
      lastFailureAt: at,
      text,
    } as const;
    const row = { name: '-kb', sign: 'alert', order: 'budget', target: 'tokens=3M' };
    expect(waits({ alerts: [alert] })).toMatchObject([row]);
    expect(waits({ alerts: [{ ...alert, failures: 1 }] })[0]?.order).toBeUndefined();
    const of = (integration: string) => waits({ alerts: [{ ...alert, integration, text: '' }] })[0];
    expect(of('session:agent:main')).toMatchObject({ name: 'agent:main', of: 'session', order: 'budget' });
    expect(of('api:model')).toMatchObject({ name: 'model', of: 'integration', order: 'budget' });
    expect(of('run:coder')?.order).toBeUndefined();
  });

  it('[O-13] [G-16] is one row of a session whose budget is spent, though there is an alert of it', () => {
    const unpaid = { call: 'c1', integration: 'kb', tool: 'search', sinceMs: 4000, waitsFor: 'waits for its budget' };
    const integration = 'session:agent:main';
    const alert = {
      key: integration,
      integration,
      state: 'open',
      failures: 0,
      crashes: 0,
      lastFailureAt: at,
      text: '',
    } as const;
    const found = waits({ whys: [{ ...busy, next: undefined, calls: [unpaid] }], alerts: [alert] });
    expect(found).toMatchObject([{ name: 'agent:main', sign: 'budget' }]);
  });

  it('[O-17] [O-13] is for a person after a gateway has died, with what it left', () => {
    const dead = [{ key: 'r1', name: 'gateway.mjs', pid: 4711, lastSignAt: at - 20_000 }];
    const [wait] = waits({ dead, pending: { calls: 1, messages: 3 } });
    expect(wait).toMatchObject({
      name: 'gateway.mjs',
      of: 'gateway',
      needsPerson: true,
      sign: 'dead',
      since: at - 20_000,
    });
    expect(wait?.text).toMatch(/pid 4711\) ended without a word.* On record as pending: 1 call and 3 messages\.$/);
  });

  it('[O-17] [O-13] is for a person while there is a dead letter, in one row for all', () => {
    const letter = { session: 'agent:main', postedAt: at - 5000, endedAt: at - 1000 };
    expect(waits({ letters: [letter] })).toMatchObject([
      { name: '1 dead letter', needsPerson: true, sign: 'letters', of: 'letters', since: at - 1000 },
    ]);
    const [wait, ...others] = waits({ letters: [letter, { session: 'agent:idle', postedAt: at - 9000 }] });
    expect(others).toEqual([]);
    expect(wait).toMatchObject({ name: '2 dead letters', since: at - 9000 });
    expect(wait?.text).toContain('2 sessions');
  });

  it('[O-17] [O-3] is for a person where an open circuit has raised an alert', () => {
    const alert = {
      ...{ key: 'a1', integration: 'kb', failures: 0, crashes: 0, lastFailureAt: at, text: 'its circuit is open' },
      state: 'open' as const,
    };
    const integrations = [integration({ circuit: 'open', probeAt: at + 5000 })];
    expect(waits({ integrations })).toMatchObject([{ sign: 'open', needsPerson: false }]);
    expect(waits({ integrations, alerts: [alert] })).toMatchObject([{ sign: 'open', needsPerson: true }]);
  });

  it('[O-13] is for a person where no rule ends it: a circuit that is held open, quarantine, a question', () => {
    const questions = [
      { question: 'turn-1:question-1', what: 'delete 3 files?', sinceMs: 1000, deadlineInMs: 228_000 },
    ];
    const found = waits({
      integrations: [integration({ circuit: 'isolated' })],
      trees: [tree({ state: 'quarantined', lastError: 'exit 127' })],
      whys: [{ ...busy, questions }],
    });
    expect(found.map(({ name, sign, needsPerson, order }) => ({ name, sign, needsPerson, order }))).toEqual([
      { name: 'kb', sign: 'isolated', needsPerson: true, order: 'reset' },
      { name: 'browser', sign: 'quarantined', needsPerson: true, order: 'restart' },
      { name: 'agent:main', sign: 'asks', needsPerson: true, order: undefined },
    ]);
    expect(found[2]).toMatchObject({ rule: 'Given up', endsAt: at + 228_000, since: at - 1000 });
  });

  it('[O-13] tells of a quarantine how often it crashed, and when it ends or that nothing ends it', () => {
    const quarantined = { state: 'quarantined', lastError: 'exit 127' } as const;
    expect(waits({ trees: [tree({ ...quarantined, restarts: 5 })] })).toEqual([
      {
        ...{ key: 'child integration browser', name: 'browser', of: 'integration', needsPerson: true },
        ...{ sign: 'quarantined', order: 'restart', error: 'exit 127' },
        text: 'In quarantine: it crashed too often (5 restarts so far). No restart is planned.',
      },
    ]);
    expect(waits({ trees: [tree({ ...quarantined, restarts: 1, nextRestartInMs: 800 })] })).toEqual([
      {
        ...{ key: 'child integration browser', name: 'browser', of: 'integration', needsPerson: false },
        ...{ sign: 'quarantined', error: 'exit 127', rule: 'Next restart', endsAt: at + 800 },
        text: 'In quarantine for a time: it crashed too often (1 restart so far).',
      },
    ]);
  });

  it('[O-13] [R-16] is for a session what becomes of calls of an earlier process', () => {
    const { turn: _, next: __, ...idle } = busy;
    const recovering = [{ ...call('backoff', 1), sinceMs: 9000 }];
    expect(waits({ whys: [{ ...idle, state: 'recovering', waiting: 1, recovering }] })).toEqual([
      {
        ...{ key: 'session agent:main', name: 'agent:main', of: 'session', needsPerson: false, sign: 'recovering' },
        text: 'Finds out what became of a call of an earlier process.',
        ...{ since: at - 9000, rule: 'Next attempt', endsAt: at + 4000 },
      },
    ]);
  });

  it('[O-13] names the rule that ends it, and when: a probe, a restart, an attempt', () => {
    const found = waits({
      integrations: [integration({ circuit: 'open', probeAt: at + 41_000, waiting: 2 })],
      trees: [tree({ state: 'restarting', nextRestartInMs: 800 })],
      whys: [
        {
          ...busy,
          calls: [call('backoff', 2)],
          next: { id: 'c1:1:backoff', rule: 'next_attempt', inMs: 4000, what: 'search' },
        },
      ],
    });
    expect(found).toMatchObject([
      { rule: 'Next probe', endsAt: at + 41_000, text: 'Circuit open: calls are refused. 2 calls wait.' },
      { rule: 'Next restart', endsAt: at + 800 },
      { rule: 'Next attempt', endsAt: at + 4000, text: 'search in kb backs off, attempt 2 of 4.' },
    ]);
    expect(found.some(({ needsPerson }) => needsPerson)).toBe(false);
  });

  it('[O-13] [O-9] says which rule opened a circuit, or how many failures are known where a version without it kept it', () => {
    const failure = { kind: 'transient', message: 'lost', call: 'kb-1', attempt: 1, at } as const;
    const cause = { kind: 'transient', message: 'lost', failures: [failure, failure] } as const;
    const rule = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 } as const;
    const text = (given: IntegrationLine['cause']) =>
      waits({ integrations: [integration({ circuit: 'open', cause: given })] })[0]?.text;
    expect(text({ ...cause, rule })).toBe(
      'Circuit open (10 of the last 20 attempts failed, failureRatio 0.5): calls are refused.',
    );
    expect(text(cause)).toBe('Circuit open after 2 failures: calls are refused.');
  });

  it('[O-13] says of a probe whose time has come that it takes a call', () => {
    const found = waits({ integrations: [integration({ circuit: 'open', probeAt: at })] });
    expect(found).toMatchObject([{ rule: 'The next call tries it', text: 'Circuit open: calls are refused.' }]);
    expect(found[0]?.endsAt).toBeUndefined();
  });

  it('[O-13] [M-13] is the pause that a server asked for by its answer to a probe, not what opened the circuit before', () => {
    const cause = { kind: 'transient', message: 'connection refused', failures: [] } as const;
    const paused = integration({ circuit: 'half-open', cause, pausedUntil: at + 30_000 });
    expect(waits({ integrations: [paused] })[0]).toMatchObject({
      ...{ text: 'Its server asked not to be called: calls are refused.', error: undefined },
      ...{ rule: 'Next probe', endsAt: at + 30_000 },
    });
    const later = integration({ circuit: 'open', probeAt: at + 41_000, pausedUntil: at + 30_000 });
    expect(waits({ integrations: [later] })[0]).toMatchObject({ rule: 'Next probe', endsAt: at + 41_000 });
  });

  it('[O-13] is a call that gives no sign of life for 10 s, and a turn that goes on without a call for a minute', () => {
    expect(waits({ whys: [{ ...busy, calls: [call('in_flight', 1, 10_000)] }] })).toHaveLength(1);
    const turn = { turn: 1, message: 'm-1', kind: 'user', delivery: 1, sinceMs: 59_999 };
    expect(waits({ whys: [{ ...busy, turn }] })).toEqual([]);
    expect(waits({ whys: [{ ...busy, turn: { ...turn, sinceMs: 60_000 } }] })).toHaveLength(1);
  });

  it('[O-13] tells an alert of what is told already no second time', () => {
    const alert = {
      ...{ key: 'a1', integration: 'kb', state: 'open' as const, raisedAt: at - 5000, failures: 5, crashes: 0 },
      ...{ lastFailureAt: at, text: 'auth: 401' },
    };
    expect(waits({ alerts: [alert] })).toMatchObject([
      { sign: 'alert', needsPerson: true, text: 'Alert: 5 failures.' },
    ]);
    const clears = { rule: 'All clear without a failure', endsAt: at + 600_000 };
    expect(waits({ alerts: [{ ...alert, ...clears }] })).toMatchObject([clears]);
    const open = integration({ circuit: 'open', probeAt: at + 1000 });
    expect(waits({ alerts: [alert], integrations: [open] }).map(({ sign }) => sign)).toEqual(['open']);
    expect(waits({ alerts: [{ ...alert, state: 'cleared' }] })).toEqual([]);
  });

  it('[O-13] goes on telling the alert of a crash loop while a restart is due', () => {
    const alert = {
      ...{ key: 'a1', integration: 'browser', state: 'open' as const, raisedAt: at - 5000, failures: 0, crashes: 6 },
      ...{ lastFailureAt: at, text: 'keeps crashing: it exited' },
    };
    const told = waits({ alerts: [alert], trees: [tree({ state: 'restarting', nextRestartInMs: 800 })] });
    expect(told.map(({ sign, needsPerson }) => [sign, needsPerson])).toEqual([
      ['crashed', false],
      ['alert', true],
    ]);
  });
});

describe('a time that is measured anew at each look', () => {
  it('[O-13] stays while it has hardly moved', () => {
    const times = new SteadyTimes();
    expect([times.of('a', 1000.4), times.of('a', 1699), times.of('a', 1701), times.of('b', 5)]).toEqual([
      1000, 1000, 1701, 5,
    ]);
  });
});
