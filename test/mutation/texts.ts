/** A node of Babel's syntax tree and what stands around it, as far as it is looked at here. */
export interface SourcePath {
  readonly node: SourceNode;
  readonly parentPath: SourcePath | null;
}

interface SourceNode {
  readonly type: string;
  readonly callee?: SourceNode;
  readonly key?: SourceNode;
  readonly name?: string;
}

const texts = new Set(['StringLiteral', 'TemplateLiteral']);
const partsOfTexts = new Set([
  'TemplateLiteral',
  'BinaryExpression',
  'ConditionalExpression',
  'ParenthesizedExpression',
]);

/** @returns why no change is made here: the message of an error that is thrown and the help of an option are words for people. */
export function textForPeople({ node, parentPath }: SourcePath): string | undefined {
  if (!texts.has(node.type)) return undefined;
  let around = parentPath;
  while (around !== null && partsOfTexts.has(around.node.type)) around = around.parentPath;
  const { type, callee, key } = around?.node ?? {};
  if (type === 'NewExpression' && callee?.name?.endsWith('Error')) return 'the message of an error';
  if (type === 'ObjectProperty' && key?.name === 'help') return 'the help of an option';
  return undefined;
}
