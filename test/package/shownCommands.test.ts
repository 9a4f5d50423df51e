import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commonOptions, type OptionSpecs } from '../../cli/command.ts';
import { commandIndex } from '../../cli/commandIndex.ts';
import { commands, loadCommand } from '../../cli/commands.ts';
import { firstOperand } from '../../cli/parse.ts';
import { bareOptions } from '../../cli/run.ts';

const root = new URL('../../', import.meta.url);
const filesIn = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|sh|json|toml|yaml|service|mjs|ts)$|^Dockerfile$/.test(name))
    .map((name) => `${folder}/${name}`)
    .sort();
const files = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', ...['docs', 'examples', 'plugins'].flatMap(filesIn)];

const fenced = /^```\w*\n([^]*?)^```/gm;
const ownLine = /\bunwedge((?: [^\s`]+)+)/g;
/** Comments of a shell, and what npm installs. */
const noCommands = /(?<=^|\s)#\s.*$|\bnpm (?:i|install)\b.*$/gm;

/** Requirements that are not built yet name commands that are to come. */
const planned = /^\| [A-Z]+-\d+ \| planned \|.*$/gm;

/** The words after each `unwedge` that is code: in a block or file anywhere, in prose between backticks. */
function shownLines(file: string, text: string): readonly string[] {
  const isPage = file.endsWith('.md');
  const blocks = isPage ? [...text.matchAll(fenced)].map(([, code = '']) => code) : [text];
  const inline = isPage
    ? [...text.replaceAll(fenced, '').matchAll(/`(?:npx )?(unwedge [^`]+)`/g)].map(([, code = '']) => code)
    : [];
  return [...blocks, ...inline].flatMap((code) =>
    [...code.replaceAll('\\\n', ' ').replaceAll(noCommands, '').matchAll(ownLine)].map(([, words = '']) =>
      words.trim(),
    ),
  );
}

/** What of a command line there is not; undefined where all of it is known, or it is no command line. */
async function wrongIn(line: string): Promise<string | undefined> {
  // What a shell takes, and words about it, end it.
  const all = (line.split(/ (?=[#|&;>)])|[;)](?= |$)/)[0] ?? '').split(/\s+/).filter(Boolean);
  const words = all.includes('--') ? all.slice(0, all.indexOf('--')) : all;
  const at = commandIndex(words);
  const name = words[at];
  if (name !== undefined && !/^[a-z][a-z-]*$/.test(name)) return undefined;
  if (name === 'help') return wrongIn(words.toSpliced(at, 1).join(' '));
  if (name !== undefined && !Object.hasOwn(commands, name)) return name;
  const command = name === undefined ? undefined : await loadCommand(name);
  const options: OptionSpecs = { ...(command?.options ?? bareOptions), ...commonOptions };
  const others = words.toSpliced(at, 1);
  const end = command?.takesCommand === 'bare' ? firstOperand(options, others) : -1;
  const short = Object.values(options).flatMap((spec) => (spec.kind === 'flag' && spec.short ? `-${spec.short}` : []));
  const known = [...Object.keys(options).map((option) => `--${option}`), ...short];
  return (end < 0 ? others : others.slice(0, end))
    .map((word) => /^\[?(--?[a-z][a-z-]*)/.exec(word)?.[1])
    .find((word) => word !== undefined && !known.includes(word));
}

describe('the command lines shown in', () => {
  it.each(files)('[U-6] %s have commands and options that there are', async (file) => {
    const lines = shownLines(file, readFileSync(new URL(file, root), 'utf8').replaceAll(planned, ''));
    const wrong = await Promise.all(lines.map(async (line) => ({ line, wrong: await wrongIn(line) })));
    expect(wrong.filter((each) => each.wrong !== undefined)).toEqual([]);
  });

  it('[U-6] pages are found in blocks and between backticks, not in prose and comments', () => {
    const page = [
      'As unwedge says, `npx unwedge why S` and `unwedge` and `node unwedge.js`.',
      '```sh',
      'npm install unwedge express # unwedge serves',
      'npx unwedge --db F run --attempts 3 \\',
      '  -- unwedge status && cd',
      '```',
    ].join('\n');
    expect(shownLines('page.md', page)).toEqual(['--db F run --attempts 3', 'status && cd', 'why S']);
  });

  it.each([
    ['--db F run --attempts 3 -- npm test --no-such', undefined],
    ['mcp --name kb npx -y server --no-such', undefined],
    ['events -f --failed | grep --no-such', undefined],
    ['why SESSION --fire [--rule ID]', undefined],
    ['--version', undefined],
    ['help stats', 'stats'],
    ['stauts --json', 'stauts'],
    ['status --tre', '--tre'],
    ['status -f', '-f'],
    ['mcp --nam kb npx', '--nam'],
    ['why [--fir]', '--fir'],
    ['--db F stauts', 'stauts'],
  ])('[U-6] %s: of it there is not %s', async (line, wrong) => {
    expect(await wrongIn(line)).toBe(wrong);
  });
});
