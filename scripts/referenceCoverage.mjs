import { readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);

/** The names that each entry of the package exports, types too, by the name under which it is imported. */
export function publicNames() {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  return Object.fromEntries(
    Object.entries(exports).flatMap(([path, { types: built }]) => {
      if (built === undefined) return [];
      const source = built.replace('./dist/types/', '').replace(/\.d\.ts$/, '.ts');
      return [[path.replace('.', 'unwedge'), namesIn(readFileSync(new URL(source, root), 'utf8'))]];
    }),
  );
}

function namesIn(source) {
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list.split(','));
  const listed = lists.map((each) => /(\w+)\s*$/.exec(each)?.[1]).filter((name) => name !== undefined);
  const declared = [...source.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm)];
  return [...listed, ...declared.map(([, name]) => name)].sort((a, b) => (a < b ? -1 : 1));
}

/**
 * What the reference lacks: a public name that is not in it or has no page, a public name or a field of options without a description.
 * @param {Readonly<Record<string, readonly string[]>>} names - by entry
 * @param {{ children?: readonly object[] }} reference - the project as TypeDoc writes it with `--json`
 * @param {readonly string[]} pages - those of the reference, as `unwedge/functions/createGateway.md`
 * @returns {readonly string[]} a line each
 */
export function uncovered(names, reference, pages) {
  const modules = new Map((reference.children ?? []).map((each) => [each.name, each.children ?? []]));
  const paged = new Set(pages.map((path) => path.replace(/[^/]+\/([^/]+)\.md$/, '$1')));
  return Object.entries(names).flatMap(([entry, list]) => {
    const there = new Map((modules.get(entry) ?? []).map((each) => [each.name, each]));
    return list.flatMap((name) => {
      const reflection = there.get(name);
      if (reflection === undefined) return [`${entry}: ${name} is not in it`];
      // The same name of another entry: it is described there.
      if (reflection.variant === 'reference') return [];
      const page = paged.has(`${entry}/${name}`) ? [] : [`${entry}: ${name} has no page`];
      return [...page, ...complaintsAbout(reflection, `${entry}: ${name}`)];
    });
  });
}

function complaintsAbout(reflection, place) {
  const fields = place.endsWith('Options') ? (reflection.children ?? []) : [];
  const bare = fields.filter((field) => !isDescribed(field) && field.inheritedFrom === undefined);
  return [
    ...(isDescribed(reflection) ? [] : [`${place} has no description`]),
    ...bare.map(({ name }) => `${place}.${name} has no description`),
  ];
}

/** In its own words, or in those of a signature, of a getter or of the type that it is. */
function isDescribed({ comment, signatures = [], getSignature, type }) {
  const all = [comment, ...signatures.map((each) => each.comment), getSignature?.comment, ...commentsOf(type)];
  return all.some((each) => (each?.summary ?? []).some(({ text }) => text.trim() !== ''));
}

const commentsOf = (type) => [
  type?.declaration?.comment,
  ...(type?.declaration?.signatures ?? []).map((each) => each.comment),
];
