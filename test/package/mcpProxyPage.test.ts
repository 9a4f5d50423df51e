import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OptionSpec } from '../../cli/command.ts';
import { type McpArgs, mcpOptions } from '../../cli/mcp/options.ts';
import { planLimits } from '../../cli/mcp/plan.ts';
import { parseWords } from '../../cli/parse.ts';
import { call } from '../cli/startCli.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const page = read('mcp-proxy.md');
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);

function valueOf(spec: OptionSpec): string {
  if (spec.kind === 'flag') return '';
  return ` ${spec.kind === 'duration' ? 'DURATION' : spec.kind === 'count' ? 'N' : spec.value}`;
}

/** The table as the page has it. */
function optionTable(): string {
  const rows = Object.entries<OptionSpec>(mcpOptions).map(
    ([name, spec]) => `| \`--${name}${valueOf(spec)}\` | ${spec.help.replaceAll('|', '\\|')} |`,
  );
  return `| option | what it does |\n|---|---|\n${rows.join('\n')}\n`;
}

describe('docs/mcp-proxy.md', () => {
  it('[U-6] has every option of `unwedge mcp` in the words of its help', () => {
    expect(page).toContain(`\n\n${optionTable()}\n`);
  });

  it.each(blocks('sh'))('[U-6] shows a command that `unwedge mcp` takes: %s', (line) => {
    const [before = '', command] = line.trim().split(' -- ');
    expect(before).toMatch(/^npx unwedge mcp /);
    expect(command).toMatch(/^npx -y @/);
    const parsed = parseWords(mcpOptions, before.split(' ').slice(3), 'mcp');
    expect(() => planLimits((parsed as { readonly args: McpArgs }).args)).not.toThrow();
  });

  it.each(blocks('json').filter((text) => !text.includes('"headers": { "Authorization": "Bearer 4')))(
    '[U-6] shows a file that `unwedge config --check` takes, no. %$',
    async (text) => {
      const file = join(temporaryDirectory(), 'unwedge.config.json');
      writeFileSync(file, text);
      expect(await call(['config', '--check', file])).toMatchObject({ code: 0, stderr: '' });
    },
  );
});
