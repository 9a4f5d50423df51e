import { describe, expect, it } from 'vitest';
import { checkSame } from '../../install/planFile.ts';
import { type Format, readDocument } from '../../install/document.ts';
import { DocumentError } from '../../install/tree.ts';
import type { Unwrapped } from '../../install/unwrapFile.ts';

const ours: Unwrapped = {
  report: { kind: 'server', name: 'a', action: 'restored' },
  edits: [],
  path: ['s', 'a'],
  commandKey: 'command',
  command: 'x',
  args: 'none',
  record: undefined,
};

const texts: Readonly<Record<Exclude<Format, 'jsonc'>, readonly [wrapped: string, same: string, other: string]>> = {
  json: [
    '{"n":1,"s":{"a":{"command":"u","args":["x"]}}}',
    '{"s":{"a":{"command":"x"}},"n":1}',
    '{"n":2,"s":{"a":{"command":"x"}}}',
  ],
  json5: ["{n:1,s:{a:{command:'u',args:['x']}}}", "{s:{a:{command:'x'}},n:1}", "{n:1,s:{a:{command:'x',e:1}}}"],
  yaml: ['n: 1\ns: {a: {command: u, args: [x]}}', 's:\n  a:\n    command: x\nn: 1', 'n: 2\ns: {a: {command: x}}'],
  toml: ['n = 1\n[s.a]\ncommand = "u"\nargs = ["x"]', 'n = 1\ns.a.command = "x"', 'n = 1.0\n[s.a]\ncommand = "x"'],
};

describe('the check of what is written', () => {
  it.each(['json', 'json5', 'toml', 'yaml'] as const)(
    '[E-4] [E-10] passes %s that says the same beside our words, and nothing else',
    (format) => {
      const [wrapped, same, other] = texts[format];
      const document = readDocument(Buffer.from(wrapped), format);
      expect(() => checkSame(document, same, [ours])).not.toThrow();
      expect(() => checkSame(document, other, [ours])).toThrow(DocumentError);
      expect(() => checkSame(document, same, [])).toThrow('does not say the same');
    },
  );
});
