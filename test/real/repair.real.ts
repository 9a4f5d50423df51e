import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { call } from '../cli/startCli.ts';
import { claudePath, hasClaude } from './claudeEnv.ts';
import { callsTool, says } from './fakeAnthropic.ts';
import { startRealClaude } from './startRealClaude.ts';

describe.skipIf(!hasClaude)('a session of the real claude', () => {
  it('[G-12] killed in the middle of a tool call is repaired, and its resumption is told that the outcome is unknown', async () => {
    const script = [callsTool('Bash', { command: 'echo $$ > shell; until false; do sleep 1; done' }), says('went on')];
    const { claude, gateway, upstream, home, cwd } = await startRealClaude(script, { command: claudePath });
    const started = gateway.wait('process.started');
    const killed = claude.call({ prompt: 'do it' }, { maxAttempts: 1 });
    const { pid } = await started;
    await vi.waitUntil(() => readdirSync(cwd).includes('shell'), { timeout: 60_000 });
    const projects = join(home, '.claude', 'projects');
    const name =
      readdirSync(projects, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith('.jsonl')) ?? '';
    const file = join(projects, name);
    // The call is written to the log by and by.
    await vi.waitUntil(() => readFileSync(file, 'utf8').includes('"type":"tool_use"'), { timeout: 60_000 });
    process.kill(pid, 'SIGKILL');
    expect(await killed).toMatchObject({ ok: false });

    expect((await call(['repair', file, '--check'])).code).toBe(1);
    expect((await call(['repair', file])).stdout).toContain('1 repair made');
    const session = name.replace(/^.*\//, '').replace('.jsonl', '');
    expect(await claude.call({ prompt: 'and now?', args: ['--resume', session] })).toMatchObject({ ok: true });
    const asked = upstream.requests.at(-1)?.body.messages ?? [];
    const results = asked.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
    );
    expect(results).toMatchObject([{ is_error: true, content: expect.stringContaining('outcome unknown') as string }]);
    expect((await call(['repair', file, '--check'])).code).toBe(0);
  });
});
