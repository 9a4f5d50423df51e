import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHookLimits } from '../../../cli/hook/hookMain.ts';
import { readHostTimeout, readAncestors } from '../../../cli/hook/hostTimeout.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const entry = (command: string, timeout?: number, args?: readonly string[]) => ({
  matcher: '*',
  hooks: [{ type: 'command', command, timeout, args }],
});

/** A home and a project; what is given is written to the files by their path below either. */
function startHost(files: Readonly<Record<string, unknown>>) {
  const directory = temporaryDirectory();
  for (const [path, hooks] of Object.entries(files)) {
    const file = join(directory, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, typeof hooks === 'string' ? hooks : JSON.stringify({ hooks }));
  }
  return { HOME: join(directory, 'home'), CLAUDE_PROJECT_DIR: join(directory, 'project') };
}

const guard = { command: '/opt/guards/guard.sh' };
const wrapped = 'npx unwedge hook --on-failure block -- "$CLAUDE_PROJECT_DIR"/guard.sh --strict';
const ask = (files: Readonly<Record<string, unknown>>, event?: string, more: NodeJS.ProcessEnv = {}) => {
  const env = { ...startHost(files), ...more };
  return readHostTimeout(guard, env, env.CLAUDE_PROJECT_DIR)(event);
};

describe("the host's own limit on a hook", () => {
  it.each([
    'home/.claude/settings.json',
    'project/.claude/settings.json',
    'project/.claude/settings.local.json',
    'home/.codex/hooks.json',
    'project/.codex/hooks.json',
  ])('[H-3] is read from %s', (path) => {
    expect(ask({ [path]: { PreToolUse: [entry(wrapped, 5)] } }, 'PreToolUse')).toBe(5000);
  });

  it('[H-3] is read from where CLAUDE_CONFIG_DIR, CODEX_HOME and CLAUDE_PLUGIN_ROOT point', () => {
    for (const [name, file] of [
      ['CLAUDE_CONFIG_DIR', 'settings.json'],
      ['CODEX_HOME', 'hooks.json'],
      ['CLAUDE_PLUGIN_ROOT', 'hooks/hooks.json'],
    ] as const) {
      const directory = temporaryDirectory();
      mkdirSync(join(directory, 'hooks'), { recursive: true });
      writeFileSync(join(directory, file), JSON.stringify({ hooks: { Stop: [entry(wrapped, 7)] } }));
      expect(ask({}, 'Stop', { [name]: directory })).toBe(7000);
    }
  });

  it('[H-3] is read from the --settings of a process above, a file or JSON', () => {
    const env = startHost({ 'project/own.json': { PreToolUse: [entry(wrapped, 3)] } });
    const cwd = env.CLAUDE_PROJECT_DIR;
    const inline = JSON.stringify({ hooks: { PreToolUse: [entry(wrapped, 4)] } });
    const given = (...words: string[]) =>
      readHostTimeout(guard, env, '/', () => [
        { words: ['sh', '-c', 'x'], cwd: '/' },
        { words: ['claude', ...words], cwd },
      ])('PreToolUse');
    expect(given('-p', '--settings', 'own.json')).toBe(3000);
    expect(given(`--settings=${join(cwd, 'own.json')}`, 'hi')).toBe(3000);
    expect(given('--settings', inline)).toBe(4000);
    expect(given('--settings')).toBeUndefined();
    expect(given('--settings', '{"hooks"')).toBeUndefined();
    expect(given('--settings', 'none.json')).toBeUndefined();
  });

  it('[H-3] is looked for in processes that are really there', () => {
    const [own, parent] = readAncestors(process.pid);
    expect(own?.cwd).toBe(process.platform === 'linux' ? process.cwd() : undefined);
    expect(parent).toEqual(readAncestors()[0]);
    expect(readAncestors(2 ** 30)).toEqual([]);
  });

  it('[H-3] is that of the event, and the shortest of all where the event is not known', () => {
    const hooks = { PreToolUse: [entry(wrapped, 5), entry(wrapped, 4)], Stop: [entry(wrapped, 2), entry(wrapped)] };
    const files = { 'home/.claude/settings.json': hooks };
    expect(ask(files, 'PreToolUse')).toBe(4000);
    expect(ask(files, 'Stop')).toBe(2000);
    expect(ask(files)).toBe(2000);
    expect(ask(files, 'SessionStart')).toBeUndefined();
  });

  it('[H-3] is not that of other hooks; arguments of the exec form count as words', () => {
    const others = [
      entry('./guard.sh', 1),
      entry('unwedge hook -- other.sh', 1),
      entry('unwedge', 3, ['hook', '--', 'guard.sh']),
    ];
    expect(ask({ 'home/.claude/settings.json': { PreToolUse: others } }, 'PreToolUse')).toBe(3000);
  });

  it.each([
    '',
    '{',
    '[]',
    '{"hooks":[]}',
    '{"hooks":{"PreToolUse":{}}}',
    '{"hooks":{"PreToolUse":[null,{"hooks":[1,{"command":5}]}]}}',
  ])('[H-3] is not known from %j', (text) => {
    expect(ask({ 'home/.claude/settings.json': text }, 'PreToolUse')).toBeUndefined();
  });

  it('[H-3] is at most 60 s at SessionEnd, and what CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS says there', () => {
    const files = { 'home/.claude/settings.json': { SessionEnd: [entry(wrapped, 100)] } };
    expect(ask(files, 'SessionEnd')).toBe(60_000);
    expect(ask(files, 'SessionEnd', { CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: '4000' })).toBe(4000);
  });
});

describe('the limit on a hook', () => {
  const limits = (
    given: { readonly timeoutMs?: number; readonly hostTimeoutMs?: number },
    files: Readonly<Record<string, unknown>> = {},
  ) => createHookLimits({ ...guard, timeoutMs: undefined, hostTimeoutMs: undefined, ...given }, startHost(files));
  const files = { 'home/.claude/settings.json': { PreToolUse: [entry(wrapped, 5)] } };

  it("[H-3] lies below the host's, by a fifth, at least 300 ms and at most 5 s", () => {
    expect(limits({}, files).run('PreToolUse')).toBe(4000);
    expect(limits({ hostTimeoutMs: 1000 }).run('PreToolUse')).toBe(700);
    expect(limits({ hostTimeoutMs: 600_000 }).run('PreToolUse')).toBe(595_000);
    expect(limits({ hostTimeoutMs: 400 }).run('PreToolUse')).toBe(200);
  });

  it("[H-3] is never above the host's, whatever was asked for", () => {
    expect(limits({ timeoutMs: 60_000 }, files).run('PreToolUse')).toBe(4000);
    expect(limits({ timeoutMs: 500 }, files).run('PreToolUse')).toBe(500);
    expect(limits({ timeoutMs: 60_000, hostTimeoutMs: 10_000 }, files).run('PreToolUse')).toBe(8000);
    expect(limits({}, files).run('PreToolUse', 60_000)).toBe(4000);
  });

  it("[H-3] is what was asked for where the host's is not known, else the usual one of the event", () => {
    expect(limits({ timeoutMs: 120_000 }).run('PreToolUse')).toBe(120_000);
    expect([limits({}).run('PreToolUse'), limits({}).run('SessionEnd'), limits({}).run(undefined)]).toEqual([
      55_000, 1200, 10_000,
    ]);
    expect(limits({ hostTimeoutMs: 2000 }).run(undefined)).toBe(1600);
    expect([limits({}).whole('SessionEnd'), limits({}).whole('PreToolUse')]).toEqual([1500, 60_000]);
  });
});
