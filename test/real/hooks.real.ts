import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { processesWith } from '../cli/startHook.ts';
import { setup } from '../globalSetup.ts';
import { openReader } from '../../reader/openReader.ts';
import { claudePath, hasClaude } from './claudeEnv.ts';
import { callsTool, says } from './fakeAnthropic.ts';
import { startRealClaude } from './startRealClaude.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const fixture = fileURLToPath(new URL('../fixtures/hook.mjs', import.meta.url));

/** A turn of the real program that calls Bash once, with a wrapped hook before it. */
async function runTurn(options: string, behaviour: string) {
  const script = [callsTool('Bash', { command: 'echo ran > effect' }), says('done')];
  const started = await startRealClaude(script, { command: claudePath });
  const db = join(started.home, 'hooks.sqlite');
  const command = `${process.execPath} ${main} hook --db ${db} ${options} -- ${process.execPath} ${fixture} ${behaviour}`;
  const settings = { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command, timeout: 60 }] }] } };
  const outcome = await started.claude.call({ prompt: 'do it', args: ['--settings', JSON.stringify(settings)] });
  const [, second] = started.upstream.requests;
  return {
    outcome,
    home: started.home,
    ran: existsSync(join(started.cwd, 'effect')),
    /** What the model was told of its tool call. */
    told: JSON.stringify(second?.body.messages ?? []),
    async errors() {
      const reader = await openReader(db);
      const events = await reader.events({ category: 'hook', limit: 10 });
      reader.close();
      return events.map(({ metadata }) => metadata);
    },
  };
}

describe.skipIf(!hasClaude)('a wrapped hook under the real claude', () => {
  beforeAll(setup);

  it('[H-3] that crashes lets the tool run, and is recorded with its session', async () => {
    const { outcome, ran, errors } = await runTurn('', 'crash');
    expect(outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(ran).toBe(true);
    expect(await errors()).toMatchObject([
      { event_type: 'PreToolUse', event_action: 'Bash', session_key: expect.any(String) as string },
    ]);
  });

  it('[H-3] [I-3] that hangs lets the tool run after its limit, and leaves no process behind', async () => {
    const { outcome, ran, errors, home } = await runTurn('--timeout 3s', 'hang');
    expect(outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(ran).toBe(true);
    expect(await errors()).toMatchObject([{ error: expect.stringContaining('did not end within 3s') as string }]);
    expect(processesWith(`HOME=${home}`)).toEqual([]);
  });

  it('[H-3] that denies keeps the tool from running, and the model is told why', async () => {
    const { outcome, ran, told } = await runTurn('', "block 'not on Fridays'");
    expect(outcome).toMatchObject({ ok: true });
    expect(ran).toBe(false);
    expect(told).toContain('not on Fridays');
  });

  it('[H-3] that is a guard and crashes keeps the tool from running, which claude alone would not', async () => {
    const { ran, told } = await runTurn('--on-failure block', 'crash');
    expect(ran).toBe(false);
    expect(told).toContain('it is a guard, so this is declined');
  });

  it('[H-3] that says no in JSON keeps the tool from running', async () => {
    const deny = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'not today' };
    const { ran, told } = await runTurn('', `print '${JSON.stringify({ hookSpecificOutput: deny })}'`);
    expect(ran).toBe(false);
    expect(told).toContain('not today');
  });
});
