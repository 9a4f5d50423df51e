import { describe, expect, it } from 'vitest';
import { judgeDrill } from '../../../cli/drill/judge.ts';
import { rows, type Target } from '../../../cli/drill/rows.ts';
import type { Observation } from '../../../cli/drill/run.ts';

const common = { owner: 'Claude Code', client: 'claude', file: '/home/x', cwd: '/', env: {}, reads: [] } as const;
const mcp = { verb: 'mcp', options: [] };
const server: Target = { ...common, kind: 'server', name: 'files', words: ['files'], front: mcp, limitMs: 300_000 };
const { front: _none, limitMs: _no, ...bare } = server;
const hook: Target = {
  ...common,
  kind: 'hook',
  name: 'PreToolUse Bash',
  event: 'PreToolUse',
  words: ['guard'],
  clientMs: 60_000,
};
const guard: Target = { ...hook, front: { verb: 'hook', options: [] }, guards: true, limitMs: 60_000 };
const agent: Target = {
  ...common,
  client: 'zed',
  kind: 'agent',
  name: 'goose',
  words: ['goose'],
  limitMs: 3_600_000,
  front: { verb: 'acp', options: [] },
};

const saw = (fault: string, more: Partial<Observation> = {}): Observation => ({
  ...{ fault, got: 'answer', text: 'an answer', ms: 10, goesOn: true, stays: false },
  ...{ left: { processes: 0, files: 0 }, ...more },
});
/** All that is drilled of a kind, as it is where all holds. */
const well = (kind: Target['kind'], more: Partial<Observation> = {}): readonly Observation[] =>
  rows
    .filter(({ on }) => on === kind)
    .map(({ fault, must }) => saw(fault, { got: must ?? (kind === 'hook' ? 'declined' : 'error'), ...more }));
const ids = (target: Target, seen: readonly Observation[], longestMs = 0, now = 0): readonly string[] =>
  judgeDrill(target, seen, longestMs, now).map(({ id }) => id);

describe('what a drill finds', () => {
  it.each([
    ['a server behind unwedge', server, well('server')],
    ['a guard that declines', guard, well('hook')],
    [
      'an observer that lets its agent go on',
      { ...guard, event: 'PostToolUse', guards: undefined },
      well('hook', { got: 'allowed' }),
    ],
    ['one that was said to watch', { ...guard, guards: false }, well('hook', { got: 'allowed' })],
    ['an agent behind unwedge', agent, well('agent')],
    ['a server whose client waits longer than a call takes', { ...server, clientMs: 400_000 }, well('server')],
    ['an agent whose limit is above that of its tools', agent, well('agent')],
  ] as const)('[E-9] is nothing for %s', (_, target, seen) => {
    expect(judgeDrill(target, seen, 300_000)).toEqual([]);
  });

  it('[E-9] is a hook that fails open: at an event that asks, undeclared, with unwedge before it and without', () => {
    const open = well('hook', { got: 'allowed' });
    expect(judgeDrill({ ...guard, guards: undefined }, open)).toEqual([
      {
        id: 'fails_open',
        summary: 'killed: what it is asked about is done',
        set: expect.stringMatching(/^--on-failure block/) as unknown,
      },
    ]);
    expect(judgeDrill(hook, open)[0]).toMatchObject({
      id: 'fails_open',
      set: expect.stringMatching(/^unwedge install claude, --on-failure block/) as unknown,
    });
    for (const event of ['UserPromptSubmit', 'PermissionRequest', 'beforeShellExecution'])
      expect([event, ...ids({ ...guard, event, guards: undefined }, open)]).toEqual([event, 'fails_open']);
    for (const event of ['PostToolUse', 'SessionStart', 'Stop', 'PreCompact', 'afterFileEdit'])
      expect([event, ...ids({ ...guard, event, guards: undefined }, open)]).toEqual([event]);
  });

  it('[E-9] is one that is declared a guard and lets something pass', () => {
    expect(ids(guard, [saw('killed', { got: 'declined' }), saw('half', { got: 'allowed' })])).toEqual(['fails_open']);
  });

  it('[E-9] is a server whose sign-in is refused, or ends and is not renewed', () => {
    const refused = [saw('none', { got: 'error', text: '401 Unauthorized: token expired' })];
    expect(judgeDrill(server, refused)).toMatchObject([{ id: 'sign_in', set: 'a new token in its "env"' }]);
    const url = 'https://mcp.example.com/mcp';
    expect(judgeDrill({ ...server, url }, refused)[0]?.set).toBe(`unwedge mcp --sign-in --url ${url}`);
    const ours = [saw('none', { got: 'error', text: 'Not signed in: sign in with: unwedge mcp --url' })];
    expect(ids({ ...server, url }, ours)).toEqual(['sign_in']);
    const [ending] = judgeDrill({ ...server, url, signInEnds: 3_600_000 }, well('server'), 0, 1_800_000);
    expect(ending).toMatchObject({ id: 'sign_in', summary: 'its sign-in ends in 30m, and nothing renews it' });
    expect(ending?.set).toContain('--client-secret-env');
  });

  it('[E-9] is an agent, or a client, with a limit below that of its tool, and names the option and its value', () => {
    expect(judgeDrill({ ...agent, limitMs: 60_000 }, well('agent'), 300_000)).toEqual([
      {
        id: 'limit_below',
        summary: 'a turn is ended after 1m, a call of its tools may take 5m',
        set: '--tool-timeout 330s',
      },
    ]);
    expect(judgeDrill({ ...agent, client: undefined, limitMs: 60_000 }, well('agent'), 300_000)[0]?.set).toBe(
      'agents.goose.policy.limits.overallMs: 330s',
    );
    expect(judgeDrill({ ...server, clientMs: 20_000 }, well('server'))).toEqual([
      { id: 'limit_below', summary: 'its client gives up after 20s, a call may take 5m', set: '--call-timeout 18s' },
    ]);
  });

  it('[E-9] is what stands unprotected, and what nobody ends', () => {
    const lost = [saw('none'), saw('killed', { got: 'error', text: 'connection closed', goesOn: false })];
    expect(judgeDrill(bare, lost)).toMatchObject([
      {
        id: 'unprotected',
        summary: 'nothing stands before it: killed, its client gets connection closed, then no more',
        set: 'unwedge install claude',
      },
      { id: 'no_limit', set: '"timeout": 300000 in its entry' },
    ]);
    expect(ids({ ...bare, clientMs: 60_000 }, lost)).toEqual(['unprotected']);
    expect(ids({ ...bare, client: 'codex' }, lost)).toEqual(['unprotected']);
    expect(judgeDrill({ ...bare, url: 'https://x.example/mcp', words: [] }, [])[0]?.set).toBe(
      'unwedge mcp --url https://x.example/mcp as the command of its entry',
    );
    expect(ids({ ...bare, url: 'https://x.example/mcp', words: [] }, [])).toEqual(['unprotected']);
    expect(ids({ ...hook, event: 'PostToolUse' }, [saw('silent', { got: 'nothing' })])).toEqual(['unprotected']);
  });

  it('[E-9] [I-3] is a server that does not end with its client', () => {
    const stays = saw('none', { stays: true, left: { processes: 2, files: 0 } });
    expect(ids({ ...bare, clientMs: 1000 }, [stays])).toEqual(['unprotected', 'left_behind']);
    expect(ids(server, [saw('killed', { left: { processes: 1, files: 0 } })])).toEqual(['left_behind']);
    expect(
      ids({ ...bare, clientMs: 1000 }, [saw('silent', { stays: true, left: { processes: 2, files: 0 } })]),
    ).toEqual(['unprotected']);
  });

  it('[E-9] is a hook that takes longer than its client waits, measured or by its own limit', () => {
    expect(
      judgeDrill({ ...guard, clientMs: 1000, limitMs: 1000 }, [saw('none', { got: 'allowed', ms: 2000 })]),
    ).toEqual([{ id: 'slow_hook', summary: 'it takes 2s, its client waits 1s', set: '"timeout": 4 in its entry' }]);
    expect(ids({ ...guard, limitMs: 120_000 }, well('hook'))).toEqual(['slow_hook']);
    expect(ids(guard, [saw('none', { got: 'declined', text: 'It did not end within 48s and was ended' })])).toEqual([
      'slow_hook',
    ]);
  });

  it('[E-9] [I-1] [I-2] is a promise of ours that does not hold: no end, nothing after it, or a failure told as done', () => {
    expect(ids(server, [saw('silent', { got: 'nothing' })])).toEqual(['broken']);
    expect(ids(server, [saw('killed', { got: 'error', goesOn: false })])).toEqual(['broken']);
    expect(ids(server, [saw('slow', { got: 'error', text: 'ended' })])).toEqual(['broken']);
    expect(ids(agent, [saw('sign-in', { got: 'answer', text: 'end_turn' })])).toEqual(['broken']);
    expect(ids(agent, [saw('429')])).toEqual([]);
  });

  it('[E-9] is what does not start, and nothing for an agent that asked no model of ours', () => {
    expect(judgeDrill(server, [saw('none', { got: 'error', text: 'connection closed' })])).toMatchObject([
      { id: 'not_started', set: 'unwedge doctor --probe' },
    ]);
    expect(ids(agent, [saw('none', { got: 'error', text: 'no provider', asked: 0 })])).toEqual([]);
  });
});
