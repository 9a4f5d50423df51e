import { describe, expect, it } from 'vitest';
import { processesOf } from '../support/processesOf.ts';
import { hasCopilot } from './copilotEnv.ts';
import { hasGemini } from './geminiEnv.ts';
import { hasGoose } from './gooseEnv.ts';
import { hasOpencode } from './opencodeEnv.ts';
import { type ProfiledAgent, runOverAgent } from './startRealRun.ts';

const installed: Readonly<Record<ProfiledAgent, boolean>> = {
  goose: hasGoose,
  gemini: hasGemini,
  opencode: hasOpencode,
  copilot: hasCopilot,
};

/** The tools that run a command. */
const shells: Readonly<Record<ProfiledAgent, string>> = {
  goose: 'shell',
  gemini: 'run_shell_command',
  opencode: 'bash',
  copilot: 'bash',
};

describe.each(Object.keys(installed) as ProfiledAgent[])('unwedge run over the real %s', (agent) => {
  it.skipIf(!installed[agent])('[A-2] has its answer', async () => {
    const { code, report } = await runOverAgent(agent, [{ text: 'It is done.' }]);
    expect({ code, report }).toMatchObject({
      code: 0,
      report: { ok: true, agent: { agent, text: 'It is done.', concluded: true } },
    });
  });

  it.skipIf(!installed[agent])('[A-2] says that a model which refused is a failure, however it exits', async () => {
    const { code, report } = await runOverAgent(agent, () => ({ do: 'refuse', status: 401 }));
    expect({ code, report }).toMatchObject({ code: 1, report: { ok: false, kind: 'auth', exit_code: 1 } });
  });

  it.skipIf(!installed[agent])('[A-2] says that an answer which broke off is a failure', async () => {
    const cut = { text: 'It is', until: 'text', then: 'reset' } as const;
    const { code, report } = await runOverAgent(agent, () => cut, ['--timeout', '110s']);
    expect(report).toMatchObject({ ok: false });
    expect(code).not.toBe(0);
  });
});

describe.each(Object.keys(installed) as ProfiledAgent[])('the real %s that is ended in its tool', (agent) => {
  it.skipIf(!installed[agent])('[A-2] [S-3] leaves nothing, and may have changed something', async () => {
    const seconds = `47${agent.length}${Math.floor(Math.random() * 1000)}`;
    const input = { command: `sleep ${seconds}`, description: 'sleep' };
    const script = () => ({ text: 'I sleep.', tool: { name: shells[agent], input } });
    const { code, report } = await runOverAgent(agent, script, ['--timeout', '20s']);
    expect({ code, report }).toMatchObject({ code: 124, report: { kind: 'timeout' } });
    // opencode tells of a tool only when it is over.
    expect(report['effects']).toBe(agent === 'opencode' ? 'unknown' : 'possible');
    expect(processesOf(seconds)).toEqual([]);
  });
});

describe.skipIf(!hasGoose)('unwedge run over the real goose', () => {
  it('[A-2] fails where every model call did, once: goose has asked again by itself', async () => {
    const refused = { do: 'refuse', status: 503 } as const;
    const { code, report, stderr } = await runOverAgent('goose', () => refused, ['--attempts', '3']);
    expect({ code, report }).toMatchObject({ report: { ok: false, attempts: 1, command_exit_code: 0 } });
    expect(code).not.toBe(0);
    expect(stderr).toContain('goose has asked again by itself');
  });
});
