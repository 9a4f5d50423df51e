// Counts what runs: a counter at each branch of the source, which is the feedback of the fuzzer and the measure of its steps.
import { parseAst } from 'rolldown/parseAst';

/** Kinds of nodes with bodies that may not be blocks. */
const bodies = {
  IfStatement: ['consequent', 'alternate'],
  ForStatement: ['body'],
  ForOfStatement: ['body'],
  ForInStatement: ['body'],
  WhileStatement: ['body'],
  DoWhileStatement: ['body'],
};
const branches = { ConditionalExpression: ['consequent', 'alternate'], LogicalExpression: ['right'] };

/** A plugin of the bundler, whose modules tell the words they look for as they are loaded. @returns it, and the number of its counters. */
export function instrument(isOurs) {
  let next = 0;
  const plugin = {
    name: 'count-branches',
    transform(code, id) {
      if (!isOurs(id) || !/\.tsx?$/.test(id)) return null;
      const words = new Set();
      const opens = [];
      const closes = [];
      const count = () => `fuzzed[${next++}]++`;
      const expression = ({ start, end }) => {
        opens.push([start, `(${count()},`]);
        closes.unshift([end, ')']);
      };
      const statement = (node) => {
        if (node.type === 'BlockStatement') opens.push([node.start + 1, `${count()};`]);
        else {
          opens.push([node.start, `{${count()};`]);
          closes.unshift([node.end, '}']);
        }
      };
      walk(parseAst(code, { lang: id.endsWith('x') ? 'tsx' : 'ts' }), (node) => {
        if (node.type === 'Literal' && typeof node.value === 'string') words.add(node.value);
        if (node.type === 'Property' && node.key.type === 'Identifier') words.add(node.key.name);
        if (node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement') expression(node.body);
        else if (/Function/.test(node.type) && node.body?.type === 'BlockStatement') statement(node.body);
        else if (node.type === 'CatchClause') statement(node.body);
        else if (node.type === 'SwitchCase' && node.consequent.length > 0)
          opens.push([node.consequent[0].start, `${count()};`]);
        for (const part of bodies[node.type] ?? []) if (node[part]) statement(node[part]);
        for (const part of branches[node.type] ?? []) expression(node[part]);
      });
      // At one place what ends comes before what begins; of what begins the outer comes first, of what ends the inner.
      const edits = [...closes, ...opens].sort(([a], [b]) => a - b);
      const short = [...words].filter((word) => word !== '' && word.length <= 40 && !word.startsWith('.'));
      let [text, at] = [
        `const fuzzed = globalThis.fuzzCounters; globalThis.fuzzWords.push(...${JSON.stringify(short)});`,
        0,
      ];
      for (const [place, added] of edits) {
        text += code.slice(at, place) + added;
        at = place;
      }
      return { code: text + code.slice(at), moduleType: id.endsWith('x') ? 'tsx' : 'ts' };
    },
  };
  return { plugin, count: () => next };
}

function walk(node, visit) {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const each of node) walk(each, visit);
    return;
  }
  if (typeof node.type !== 'string') return;
  if (/^TS(Type|Interface)/.test(node.type) && !/^TSTypeAssertion/.test(node.type)) return;
  visit(node);
  for (const [key, value] of Object.entries(node)) if (key !== 'type' && typeof value === 'object') walk(value, visit);
}
