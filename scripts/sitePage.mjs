import { posix } from 'node:path';

/** The heading of a page, as plain text. */
export function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? 'unwedge';
}

/** The anchor of a heading, as GitHub makes it. The site takes the same, so that one link is right in both. */
export function anchorOf(heading) {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

const fence = /^```/;

/**
 * A page as the site takes it: links lead to where the pages are there, what is not shown there is named without a link, statecharts are drawn,
 * pictures are shown, and nothing in the prose is taken for a component.
 * @param {string} path - of the page, from the root of the project
 * @param {{ isShown: (path: string) => boolean, exists: (path: string) => boolean }} shown
 */
export function pageOf(text, path, { isShown, exists }) {
  const parts = [];
  let isCode = false;
  for (const line of withCharts(text, path).split('\n')) {
    if (fence.test(line)) isCode = !isCode;
    parts.push(isCode || fence.test(line) ? line : (pictureOf(line) ?? prose(line)));
  }
  return parts.join('\n');

  function prose(line) {
    return line
      .split(/(`[^`]*`)/)
      .map((part, index) => (index % 2 === 1 ? inCode(part) : escaped(part)))
      .join('')
      .replaceAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (whole, words, target) => linked(whole, words, target));
  }

  function linked(whole, words, target) {
    if (/^(?:[a-z]+:|#)/.test(target)) return whole;
    const [place = '', anchor] = target.split('#');
    const found = posix.normalize(posix.join(posix.dirname(path), place));
    if (!isShown(found) || !exists(found)) return words;
    if (!found.endsWith('.md')) return found === 'examples' ? words : `[${words}](/${found}){target="_self"}`;
    const page = found === 'README.md' ? '/' : `/${found.slice(0, -3)}`;
    return `[${words}](${page}${anchor === undefined ? '' : `#${anchor}`})`;
  }
}

/** A picture, from where the site has all of them. */
function pictureOf(line) {
  const [, words, file] = /^!\[([^\]]+)\]\((?:docs\/)?pictures\/([\w-]+\.\w+)\)$/.exec(line) ?? [];
  return file === undefined ? undefined : `![${words}](/pictures/${file})`;
}

/** Braces would be expressions of Vue, also in code. */
function inCode(code) {
  return code.includes('{{') ? `<code v-pre>${code.slice(1, -1).replaceAll('<', '&lt;')}</code>` : code;
}

function escaped(text) {
  return text.startsWith('<StateChart ')
    ? text
    : text.replaceAll('{{', '&#123;&#123;').replaceAll(/<(?=[A-Za-z/])/g, '&lt;');
}

/** In place of the Mermaid of a machine, its chart. */
function withCharts(text, path) {
  if (path !== 'docs/machines.md') return text;
  return text.replaceAll(
    /^## (.+)\n([\s\S]*?)```mermaid\n[\s\S]*?```/gm,
    (_, name, between) => `## ${name}\n${between}<StateChart name="${name}" />`,
  );
}
