import { type AST, getStaticJSONValue, parseJSON } from 'jsonc-eslint-parser';
import { DocumentError, emptyTable, type Node, type Scalar } from './tree.ts';

/** The values of a JSON, JSONC or JSON5 text and their places. @throws {@link DocumentError} */
export function readJsonTree(text: string): Node {
  return nodeOf(parsed(text).body[0].expression);
}

/** The value of a JSON5 text. @throws {@link DocumentError} */
export function readJson5Value(text: string): unknown {
  return getStaticJSONValue(parsed(text));
}

function parsed(text: string): AST.JSONProgram {
  try {
    return parseJSON(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { lineNumber } = error as SyntaxError & { readonly lineNumber?: number };
    // Its message may quote what stands there, which may be a secret.
    throw new DocumentError(`line ${lineNumber ?? 1} is no JSON`);
  }
}

function nodeOf(expression: AST.JSONExpression | null): Node {
  if (expression === null) throw new DocumentError('a list has an empty place');
  switch (expression.type) {
    case 'JSONObjectExpression':
      return tableOf(expression);
    case 'JSONArrayExpression':
      return { kind: 'list', items: expression.elements.map(nodeOf), range: expression.range };
    case 'JSONLiteral':
      return { kind: 'scalar', value: plain(expression.value), range: expression.range };
    case 'JSONBinaryExpression':
    case 'JSONIdentifier':
    case 'JSONTemplateLiteral':
    case 'JSONUnaryExpression':
      return { kind: 'scalar', value: undefined, range: expression.range };
  }
}

function tableOf(expression: AST.JSONObjectExpression): Node {
  const table = emptyTable();
  for (const { key, value, range } of expression.properties) {
    const name = key.type === 'JSONIdentifier' ? key.name : String(key.value);
    // Programs differ in which of the two counts.
    if (table.fields.has(name))
      throw new DocumentError(`line ${key.loc.start.line}: the key ${JSON.stringify(name)} is there twice`);
    table.fields.set(name, { value: nodeOf(value), range, key: key.range, isInline: true });
  }
  return table;
}

function plain(value: unknown): Scalar['value'] {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
    ? value
    : undefined;
}
