// Writes llms.txt: the pages of the package for agents, a line each, as https://llmstxt.org has it. `node scripts/llmsText.mjs --write`
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);
const read = (path) => readFileSync(new URL(path, root), 'utf8');

/** Returns the text of llms.txt. */
export function llmsText() {
  const { description, files } = JSON.parse(read('package.json'));
  const isShipped = (path) => !files.includes(`!${path}`);
  const pages = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name}`)
    .filter((path) => path.endsWith('.md') && isShipped(path))
    .sort();
  const guides = pages.filter((path) => path.startsWith('docs/guides/'));
  return [
    '# unwedge',
    '',
    `> ${description}`,
    '',
    'Begin with [AGENTS.md](AGENTS.md): the one shape, the rules that are easy to get wrong, and which entry is for what.',
    '',
    '## Reference',
    '',
    '- [The API, name by name](dist/api.md): each with the line of its declaration',
    '- [JSON schema of a configuration file](dist/config.schema.json)',
    '',
    ...section('Guides', guides),
    ...section('In depth', ['README.md', ...pages.filter((path) => !guides.includes(path))]),
  ].join('\n');
}

function section(title, pages) {
  return [
    `## ${title}`,
    '',
    ...pages.map((path) => `- [${titleOf(read(path))}](${path}): ${purposeOf(read(path))}`),
    '',
  ];
}

const titleOf = (text) => /^# (.+)$/m.exec(text)[1];

/** The first sentence below the title. */
function purposeOf(text) {
  const prose = text.split('\n\n').find((part) => /^[A-Z`*[]/.test(part) && !part.startsWith('```')) ?? '';
  const line = prose.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' ');
  return /^.*?[.:](?= |$)/.exec(line)?.[0].replace(/:$/, '.') ?? line;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv.includes('--write'))
  writeFileSync(new URL('llms.txt', root), llmsText());
