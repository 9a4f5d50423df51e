import { redacted } from '../redaction/redacted.ts';
import { announcesSecret, isSecretName } from '../redaction/secretNames.ts';
import { redactText } from '../redaction/secrets.ts';
import { type Document, tokenOf } from './document.ts';
import { applyEdits, type Range, type TextEdit } from './textEdits.ts';
import type { Node, Scalar } from './tree.ts';

/** Fields whose values are secrets, or may be. */
const hiddenFields = /^(?:env|.*headers|oauth)$/i;

/** The text with secrets hidden in these ranges, in as many lines. */
export function maskedText({ text, root }: Document, ranges: readonly Range[]): string {
  const edits: TextEdit[] = [];
  const hide = ({ range }: Scalar, shown: string) => {
    const [start, end] = range;
    if (!ranges.some(([from, to]) => start < to && end > from)) return;
    const lines = text.slice(start, end).split('\n').length - 1;
    edits.push({ range, text: tokenOf(shown) + '\n'.repeat(lines) });
  };
  const visit = (node: Node, isHidden: boolean): void => {
    if (node.kind === 'table') {
      for (const [key, { value }] of node.fields) visit(value, isHidden || hiddenFields.test(key) || isSecretName(key));
    } else if (node.kind === 'list') {
      for (const [index, item] of node.items.entries()) {
        const before = node.items[index - 1];
        visit(item, isHidden || (before?.kind === 'scalar' && announcesSecret(before.value)));
      }
    } else if (isHidden) hide(node, redacted);
    else if (typeof node.value === 'string') {
      const shown = redactText(node.value);
      if (shown !== node.value) hide(node, shown);
    }
  };
  visit(root, false);
  return applyEdits(text, edits);
}
