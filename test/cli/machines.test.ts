import { describe, expect, it } from 'vitest';
import { machineCatalogue } from '../../cli/machineCatalogue.ts';
import { chartOf } from '../../src/inspector/chart.ts';
import { mermaidOf } from '../../src/inspector/mermaid.ts';
import { runBuilt, runHere } from './startCli.ts';

const drawings = Object.entries(machineCatalogue).map(([name, { machine, summary }]) => {
  const text = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return `## ${name}\n\n${text}\n\n\`\`\`mermaid\n${mermaidOf(chartOf(machine))}\`\`\`\n`;
});
const page = `# The machines

Every actor of the runtime runs one of these, drawn here by \`unwedge machines --format mermaid\` from the definition that runs. A transition is
\`event [guard] / actions\`; guards decide, actions count and tell. What is invoked is a slot: the outside world, filled in by the actors.

${drawings.join('\n')}`;

describe('unwedge machines', () => {
  it('[L-1] lists the machines with their states', async () => {
    const { code, stdout, stderr } = await runBuilt(['machines']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^(?:npx )?unwedge\S* machines NAME draws one of them\.\n$/) as string,
    });
    expect(stdout).toContain('integration  idle, calling, backoff, open, half-open, crashed');
    expect(stdout.trimEnd().split('\n')).toHaveLength(1 + Object.keys(machineCatalogue).length);
  });

  it('[L-1] draws one machine', async () => {
    const { stdout } = await runHere(['machines', 'session']);
    expect(stdout).toBe(mermaidOf(chartOf(machineCatalogue['session']!.machine)));
  });

  it('[L-1] draws all of them with --format alone', async () => {
    const { stdout } = await runHere(['machines', '--format', 'mermaid']);
    expect(stdout.match(/^%% \w+$/gm)).toEqual(Object.keys(machineCatalogue).map((name) => `%% ${name}`));
  });

  it('[L-2] gives charts as data', async () => {
    const { stdout } = await runHere(['machines', 'approval', '--json']);
    expect(JSON.parse(stdout)).toEqual(chartOf(machineCatalogue['approval']!.machine));
  });

  it("[O-6] gives the machine's own configuration for Stately's editor", async () => {
    const { stdout } = await runHere(['machines', 'integration', '--format', 'xstate']);
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'integration',
      initial: 'idle',
      states: { open: { on: { 'probe.requested': { guard: { type: 'isDue' }, target: 'half-open' } } } },
    });
  });

  it.each([
    [['machines', 'sesion'], 'did you mean session?'],
    [['machines', '--format', 'xstat'], 'did you mean xstate?'],
    [['machines', 'session', 'approval'], 'Unexpected argument "approval"'],
  ])('[L-1] refuses %s in one line', async (words, text) => {
    const { code, stdout, stderr } = await runHere(words);
    expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 });
    expect(stderr).toContain(text);
  });
});

describe('docs/machines.md', () => {
  it('[M-10] [O-6] draws the machines that run', async () => {
    await expect(page).toMatchFileSnapshot('../../docs/machines.md');
  });
});
