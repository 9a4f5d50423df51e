import { describe, expect, it } from 'vitest';
import { checkPolicies } from '../../src/policy/policies.ts';
import { globFits } from '../../src/policy/text/glob.ts';
import type { ToolOptions, ToolAccessOptions } from '../../src/policy/toolOptions.ts';
import { ToolRules } from '../../src/policy/toolRules.ts';

type ToolsByName = Readonly<Record<string, ToolOptions>>;

const rulesOf = (places: readonly ToolAccessOptions[], tools: ToolsByName = {}): ToolRules =>
  new ToolRules('files', places, checkPolicies({}).toolsOf('files', tools));

/** How tools are listed, in the order of the server; `said` gets what is told. */
const listed = (rules: ToolRules, names: readonly string[], said: string[] = []): readonly string[] => {
  rules.begin();
  return names.flatMap((name) => rules.enter(name, (line) => said.push(line))?.name ?? []);
};

const why = (rules: ToolRules, name: string): string => {
  const found = rules.called(name);
  return typeof found === 'string'
    ? `passes as ${found}`
    : `${found.kind} ${found.reason} ${found.outcome}: ${found.message}`;
};

const tools = ['read_file', 'read_dir', 'write_file', 'delete_file'];

describe('patterns', () => {
  it.each([
    ['read_file', 'read_file', true],
    ['read_file', 'read_files', false],
    ['read_file', 'xread_file', false],
    ['read_*', 'read_', true],
    ['read_*', 'read_dir', true],
    ['read_*', 'pread_dir', false],
    ['*_file', 'read_file', true],
    ['*_file', 'read_file2', false],
    ['*', '', true],
    ['*', 'any thing', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['a.c', 'abc', false],
    ['(a|b)*', '(a|b)x', true],
    ['Read_*', 'read_x', false],
    ['a*', 'a\nb', true],
  ])('[P-11] have * stand for any characters, and all else for itself: %j and %j', (pattern, name, fits) => {
    expect(globFits(pattern, name)).toBe(fits);
  });

  it('[P-11] take no longer than the text is, whatever they are', () => {
    expect(globFits('*a'.repeat(60), 'a'.repeat(20_000) + 'b')).toBe(false);
  });
});

describe('allow and deny', () => {
  it('[P-11] leave all tools where nothing is said', () => {
    expect(rulesOf([{}, {}]).isEmpty).toBe(true);
    expect(listed(rulesOf([{}]), tools)).toEqual(tools);
  });

  it('[P-11] leave those that are allowed alone', () => {
    expect(listed(rulesOf([{ allow: ['read_*'] }]), tools)).toEqual(['read_file', 'read_dir']);
    expect(listed(rulesOf([{ allow: [] }]), tools)).toEqual([]);
  });

  it('[P-11] have deny win over allow, however exact that is, and wherever each is said', () => {
    expect(listed(rulesOf([{ allow: ['read_file', '*'], deny: ['read_*'] }]), tools)).toEqual([
      'write_file',
      'delete_file',
    ]);
    expect(listed(rulesOf([{ allow: ['read_file'] }, { deny: ['*_file'] }]), tools)).toEqual([]);
  });

  it('[P-11] have each place that allows narrow what the others leave', () => {
    expect(listed(rulesOf([{ allow: ['read_*'] }, { allow: ['*_file'] }]), tools)).toEqual(['read_file']);
  });

  it('[P-11] refuse a call, as not started, with a text that names the rule', () => {
    const rules = rulesOf([{ allow: ['read_*', 'delete_*'] }, { deny: ['delete_*'] }]);
    expect(why(rules, 'read_file')).toBe('passes as read_file');
    expect(why(rules, 'delete_file')).toBe(
      'permanent denied not_started: The rule `deny: delete_*` keeps the tool delete_file of files from being called',
    );
    expect(why(rules, 'write_file')).toBe(
      'permanent denied not_started: The rule `allow: read_*, delete_*` leaves out the tool write_file of files',
    );
  });

  it('[P-11] hold before anything was listed', () => {
    expect(why(rulesOf([{ deny: ['delete_file'] }]), 'delete_file')).toContain('`deny: delete_file`');
  });
});

describe('new names', () => {
  it('[P-11] are listed, and called by, alone', () => {
    const rules = rulesOf([], { read_file: { rename: 'fetch' } });
    for (const when of ['before a list', 'after it']) {
      expect([when, why(rules, 'fetch')]).toEqual([when, 'passes as read_file']);
      expect([when, why(rules, 'read_file')]).toEqual([
        when,
        'permanent denied not_started: The rule `rename: fetch` has the tool read_file of files called by that name alone',
      ]);
      expect(listed(rules, tools)).toEqual(['fetch', 'read_dir', 'write_file', 'delete_file']);
    }
  });

  it('[P-11] may be given to all of a pattern', () => {
    const rules = rulesOf([], { 'read_*': { rename: 'fs.read.*' }, read_dir: { rename: 'ls' } });
    expect(listed(rules, tools)).toEqual(['fs.read.file', 'ls', 'write_file', 'delete_file']);
    expect(why(rules, 'fs.read.file')).toBe('passes as read_file');
    expect(why(rules, 'ls')).toBe('passes as read_dir');
    expect(why(rules, 'read_file')).toContain('`rename: fs.read.file`');
    // No tool has it by a rule: the server is to say that there is none.
    expect(why(rules, 'fs.read.dir')).toBe('passes as fs.read.dir');
  });

  it('[P-11] may be exchanged', () => {
    const rules = rulesOf([], { a: { rename: 'b' }, b: { rename: 'a' } });
    expect(listed(rules, ['a', 'b'])).toEqual(['b', 'a']);
    expect([why(rules, 'a'), why(rules, 'b')]).toEqual(['passes as b', 'passes as a']);
  });

  it('[P-11] are no way around a rule, which goes by the name that the server gives', () => {
    const rules = rulesOf([{ deny: ['delete_*'], allow: ['read_*', 'delete_*'] }], {
      delete_file: { rename: 'read_more' },
      read_file: { rename: 'delete_it' },
    });
    expect(listed(rules, tools)).toEqual(['delete_it', 'read_dir']);
    expect(why(rules, 'read_more')).toContain('`deny: delete_*`');
    expect(why(rules, 'delete_file')).toContain('`deny: delete_*`');
    expect(why(rules, 'delete_it')).toBe('passes as read_file');
  });

  it.each([
    [{ a: { rename: 'z' }, b: { rename: 'z' } }, 'tools.b.rename` to be a name of its own, got z, which `a` has'],
    [{ 'read_*': { rename: 'x' } }, 'rename` to have a * for the one of its pattern, got x'],
    [{ a: { rename: 'b*' } }, 'tools.a.rename` to have a * for the one of its pattern, got b*'],
  ])('[P-11] that cannot be are found where they are configured, before any server: %j', (tools, message) => {
    expect(() => checkPolicies({ integrations: { f: { tools } } })).toThrow(message);
  });

  it('[P-11] that two tools would have are an error which names both', () => {
    expect(() => rulesOf([], { a: { rename: 'x' }, b: { rename: 'x' } })).toThrow(
      new RangeError(
        'Expected `files.tools.b.rename` to be a name of its own, got x, which `a` has (in code and in `policies.integrations.files` together)',
      ),
    );
  });

  it.each([
    ['a*', 'b'],
    ['a', 'b*'],
    ['a*b*', 'c*d*'],
  ])('[P-11] of %j cannot be %j', (pattern, rename) => {
    expect(() => rulesOf([], { [pattern]: { rename } })).toThrow(/Expected `files\.tools\..*\.rename` to have a \*/);
  });

  it.each(['', 'a b', 'ä', 'x'.repeat(65)])('[P-11] are names of tools: not %j', (rename) => {
    expect(() => checkPolicies({ integrations: { files: { tools: { a: { rename } } } } })).toThrow(/rename/);
  });

  it('[P-11] that meet a name of the server are told once, and the first of the list keeps it', () => {
    const rules = rulesOf([], { read_file: { rename: 'write_file' } });
    const said: string[] = [];
    for (const _ of ['once', 'again'])
      expect(listed(rules, tools, said)).toEqual(['write_file', 'read_dir', 'delete_file']);
    expect(said).toEqual([
      'The tool `write_file` of files is left out: `write_file` is the name of its tool `read_file`',
    ]);
    expect(why(rules, 'write_file')).toBe('passes as read_file');
    expect(listed(rules, tools.toReversed())).toEqual(['delete_file', 'write_file', 'read_dir']);
    expect(why(rules, 'write_file')).toBe('passes as write_file');
  });

  it('[P-11] meet none of those that are denied', () => {
    const rules = rulesOf([{ deny: ['write_file'] }], { read_file: { rename: 'write_file' } });
    expect(listed(rules, tools.toReversed())).toEqual(['delete_file', 'read_dir', 'write_file']);
    expect(why(rules, 'write_file')).toBe('passes as read_file');
  });
});

describe('what is written for tools', () => {
  const of = (inCode: ToolsByName, configured: ToolsByName = {}) =>
    checkPolicies({ integrations: { files: { tools: configured } } }).toolsOf('files', inCode);

  it('[P-11] holds for all that a pattern fits, the most exact of them setting by setting', () => {
    const found = of({
      '*': { idleMs: 1, attemptMs: 11, keepMs: 100 },
      'read_*': { idleMs: 2, attemptMs: 12 },
      read_file: { idleMs: 3 },
    });
    expect(found.get('read_file')).toEqual({ idleMs: 3, attemptMs: 12, keepMs: 100 });
    expect(found.get('read_dir')).toEqual({ idleMs: 2, attemptMs: 12, keepMs: 100 });
    expect(found.get('write')).toEqual({ idleMs: 1, attemptMs: 11, keepMs: 100 });
    expect(found.get('read_file')).toEqual({ idleMs: 3, attemptMs: 12, keepMs: 100 });
  });

  it('[P-11] in whatever order it is written; of two as exact, the first', () => {
    expect(of({ read_file: { idleMs: 3 }, 'read_*': { idleMs: 2 }, '*': { idleMs: 1 } }).get('read_file')).toEqual({
      idleMs: 3,
    });
    expect(of({ 'ab*': { idleMs: 1 }, '*bc': { idleMs: 2 } }).get('abc')).toEqual({ idleMs: 1 });
    expect(of({ '*bc': { idleMs: 2 }, 'ab*': { idleMs: 1 } }).get('abc')).toEqual({ idleMs: 2 });
  });

  it('[P-11] in the configuration wins over the code, whichever is more exact', () => {
    const found = of({ read_file: { idleMs: 3, effect: 'readOnly' } }, { 'read_*': { idleMs: 2 } });
    expect(found.get('read_file')).toEqual({ idleMs: 2, effect: 'readOnly' });
  });

  it('[P-11] is none of a tool that nothing fits', () => {
    expect(of({ 'read_*': { idleMs: 2 } }).get('write')).toBeUndefined();
    expect(of({}).get('write')).toBeUndefined();
  });
});
