import { parseSync } from 'rolldown/utils';

/**
 * Writes options that are derived from a table as plain members: `interface A extends Given<typeof aKeys> {}` becomes
 * `interface A { readonly limit?: number | undefined; }`, each member with the comment of its key. Editors and errors name nothing else then,
 * and the tables stay out of the package. A table stands in the file of its interface, or in one from which that imports it.
 * @param {string} path - for errors
 * @param {string} text - declarations as the compiler writes them
 * @param {(from: string) => string} read - gives the declarations of a file that this one imports from
 */
export function plainOptions(path, text, read) {
  if (!/\b(?:Given|Made)<typeof /.test(text)) return text;
  const declared = declaredIn(path, text);
  const tables = tablesIn(declared);
  const edits = declared.filter(({ type }) => type === 'TSInterfaceDeclaration').flatMap(editsOf);
  return edits.reduceRight((left, [start, end, put]) => left.slice(0, start) + put + left.slice(end), text);

  function editsOf({ id, typeParameters, extends: parents, body }) {
    const derived = parents.filter(isDerived);
    if (derived.length === 0) return [];
    const kept = parents.filter((parent) => !isDerived(parent)).map(textOf);
    const own = new Set(body.body.map(({ key }) => key?.name));
    const members = derived.flatMap((parent) => membersOf(parent, own));
    return [
      [(typeParameters ?? id).end, body.start, kept.length === 0 ? ' ' : ` extends ${kept.join(', ')} `],
      [body.start + 1, body.start + 1, `\n${members.join('\n')}`],
    ];
  }

  function membersOf({ expression, typeArguments }, own) {
    const { name } = typeArguments.params[0].exprName;
    const imported = declared.find(({ specifiers = [] }) => specifiers.some(({ local }) => local.name === name));
    const place = imported === undefined ? text : read(imported.source.value);
    const table = (imported === undefined ? tables : tablesIn(declaredIn(path, place))).get(name);
    if (table?.members === undefined) throw new Error(`${path}: ${textOf(typeArguments)} is of no table`);
    const textIn = ({ start, end }) => place.slice(start, end);
    return table.members.flatMap(({ key, typeAnnotation, start }, index) => {
      const types = typeAnnotation.typeAnnotation.typeArguments?.params;
      if (types === undefined) throw new Error(`${path}: the type of ${key.name} is no Key`);
      if (own.has(key.name)) return [];
      const comment = place.slice(table.members[index - 1]?.end ?? table.start + 1, start).trim();
      const lead = comment === '' ? '    ' : `    ${comment}\n    `;
      if (expression.name === 'Made')
        return [`${lead}readonly ${textIn(key)}: ${textIn(types[0]).replace(/ \| undefined$/, '')};`];
      const given = types[1] ?? types[0];
      // An older compiler of a user does not know its parameter.
      const shown = textIn(given).replaceAll('Uint8Array<ArrayBufferLike>', 'Uint8Array');
      return [`${lead}readonly ${textIn(key)}${mayBeUndefined(given) ? '?' : ''}: ${shown};`];
    });
  }

  function textOf({ start, end }) {
    return text.slice(start, end);
  }
}

const declaredIn = (path, text) =>
  parseSync(path, text, { lang: 'dts' }).program.body.map((each) => each.declaration ?? each);

const tablesIn = (declared) =>
  new Map(
    declared
      .filter(({ type }) => type === 'VariableDeclaration')
      .flatMap(({ declarations }) => declarations.map(({ id }) => [id.name, id.typeAnnotation?.typeAnnotation])),
  );

const isDerived = ({ expression, typeArguments }) =>
  (expression.name === 'Given' || expression.name === 'Made') && typeArguments?.params[0]?.type === 'TSTypeQuery';

const mayBeUndefined = ({ type, types = [] }) =>
  type === 'TSUnknownKeyword' || type === 'TSUndefinedKeyword' || types.some((each) => mayBeUndefined(each));
