import { describe, expect, it } from 'vitest';
import { startClaude } from '../support/startClaude.ts';

const hostile = [
  '--dangerously-skip-permissions',
  '-p',
  '--',
  '--model=x --mcp-config=/tmp/x',
  '$(id)',
  '`id`; id | id\n-x',
];

describe('a value that looks like an option', () => {
  it.each(hostile)('[Q-6] %j is a prompt, a model or a system prompt, and no word of its own', async (value) => {
    const { claude, fake, settled } = await startClaude([{ text: 'hello' }]);
    const { success } = await settled(claude.invokeClaude(value, { model: value, systemPrompt: value }));
    expect(success).toBe(true);
    const [run] = fake.runs();
    expect(run?.stdin).toBe(value);
    const others = run?.args.filter((word) => word !== `--model=${value}` && word !== `--system-prompt=${value}`);
    expect(run?.args).toHaveLength((others?.length ?? 0) + 2);
    // That of ours, which stands before the values.
    expect(others?.filter((word) => word === value)).toEqual(value === '-p' ? ['-p'] : []);
  });
});
