import { describe, expect, it } from 'vitest';
import type { TreeNode } from '../../src/supervisor/tree.ts';
import { type TreeTextOptions, treeText } from '../../src/supervisor/treeText.ts';

const node = (id: string, more: Partial<TreeNode> = {}): TreeNode => ({
  id,
  type: 'worker',
  state: 'running',
  incarnation: 1,
  restarts: 0,
  restart: 'permanent',
  ...more,
});

const linesOf = (tree: TreeNode, options?: TreeTextOptions): string[] =>
  treeText(tree, options).split('\n').slice(0, -1);

const many = (count: number, trouble: Readonly<Record<number, Partial<TreeNode>>> = {}): TreeNode =>
  node('root', { children: Array.from({ length: count }, (_, index) => node(`c${index}`, trouble[index])) });

describe('the text of a tree', () => {
  it('[V-6] shows each child behind its branches, aligned, with what is known of it', () => {
    const tree = node('gateway', {
      restarts: 1200,
      children: [
        node('kb', {
          state: 'restarting',
          nextRestartInMs: 2500,
          restarts: 2,
          queued: 4,
          lastError: 'spawn kb ENOENT',
        }),
        node('sessions', {
          children: [
            node('main', { machineState: 'processing', details: { waiting: 3 } }),
            node('b', { state: 'quarantined', deadLetters: 1 }),
          ],
        }),
        node('hook'),
      ],
    });
    expect(treeText(tree)).toMatchInlineSnapshot(`
      "NAME         STATE                MACHINE     RESTARTS  QUEUED  DEAD LETTERS  DETAILS    LAST ERROR
      gateway      running                             1,200
      ├─ kb        restarting, in 2.5s                     2       4                           spawn kb ENOENT
      ├─ sessions  running                                 0
      │  ├─ main   running              processing         0                        waiting=3
      │  └─ b      quarantined                             0                     1
      └─ hook      running                                 0
      "
    `);
  });

  it('[V-6] leaves out columns nobody has anything for', () => {
    expect(linesOf(node('gateway'))).toEqual(['NAME     STATE    RESTARTS', 'gateway  running         0']);
  });

  it('[V-6] shows at most 50 children of each supervisor and counts the others by state', () => {
    const lines = linesOf(many(100_000));
    expect(lines).toHaveLength(2 + 50 + 1);
    expect(lines.at(-2)).toMatch(/^├─ c49 /);
    expect(lines.at(-1)).toBe('└─ … and 99,950 more (99,950 running)');
    expect(linesOf(many(50)).at(-1)).toMatch(/^└─ c49 /);
  });

  it('[V-6] shows those in trouble before those that run, in start order', () => {
    const trouble = { 3: { state: 'restarting' }, 7: { state: 'quarantined' }, 8: { state: 'stopped' } } as const;
    const names = (maxChildren: number): string[] =>
      linesOf(many(10, trouble), { maxChildren })
        .slice(2)
        .map((line) => line.split('  ')[0] ?? '');
    expect(names(4)).toEqual(['├─ c0', '├─ c3', '├─ c7', '├─ c8', '└─ … and 6 more (6 running)']);
    expect(names(2)).toEqual(['├─ c3', '├─ c7', '└─ … and 8 more (7 running, 1 stopped)']);
    expect(names(0)).toEqual(['└─ … and 10 more (7 running, 1 restarting, 1 quarantined, 1 stopped)']);
    expect(names(Number.POSITIVE_INFINITY)).toHaveLength(10);
  });

  it('[V-6] shows all children of a nested supervisor where it is told to', () => {
    const tree = node('root', { children: [many(150_000)] });
    expect(linesOf(tree, { maxChildren: Number.POSITIVE_INFINITY })).toHaveLength(150_003);
  });

  it('[V-6] cuts lines, names and states that are too long', () => {
    const tree = node('n'.repeat(70), { machineState: 's'.repeat(40), lastError: 'e'.repeat(5000) });
    const [, line = ''] = linesOf(tree);
    expect(line).toMatch(/^n{59}… {2}running {2}s{29}… +0$/);
    for (const width of [160, 20])
      expect(Math.max(...linesOf(tree, { width }).map(({ length }) => length))).toBe(width);
  });

  it('[V-6] [L-6] shows the whole cause of a crash, in as many lines as it takes', () => {
    const lastError = `The server exited with code 3; stderr: Error: Cannot find module '/opt/${'x'.repeat(70)}/end'`;
    const tree = node('gateway', { children: [node('mcp:files', { lastError }), node('session:main')] });
    const [, , , ...lines] = linesOf(tree, { width: 60 });
    const below = lines.slice(0, -1);
    expect(below.every((line) => line.startsWith('│     ') && line.length <= 60)).toBe(true);
    expect(
      below
        .map((line) => line.slice(6))
        .join('')
        .replaceAll(' ', ''),
    ).toBe(`last error: ${lastError}`.replaceAll(' ', ''));
  });

  it('[V-6] has below its row what a narrow terminal has no room for, and nothing of it where that says nothing', () => {
    const tree = node('gateway', {
      children: [
        node('mcp:files', {
          state: 'restarting',
          nextRestartInMs: 2500,
          restarts: 10,
          lastError: 'spawn files ENOENT',
        }),
        node('session:main', { machineState: 'processing', details: { waiting: 3 } }),
      ],
    });
    expect(treeText(tree, { width: 56 })).toMatchInlineSnapshot(`
      "NAME             STATE                MACHINE
      gateway          running
      ├─ mcp:files     restarting, in 2.5s
      │     restarts: 10, last error: spawn files ENOENT
      └─ session:main  running              processing
            details: waiting=3
      "
    `);
    for (const line of linesOf(tree, { width: 56 })) expect(line.length).toBeLessThanOrEqual(56);
  });

  it('[V-6] lets no control character and no line break of a child through', () => {
    const text = treeText(node('a\nb', { lastError: '\u001b[31mboom\r\nnext\u202e', machineState: '\u0007x' }));
    expect(text).toMatch(/^[\n -~]*$/);
    expect(text.split('\n')).toHaveLength(3);
  });

  it('[V-6] shows details that are no text', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(treeText(node('a', { details: { list: [1], loop, none: undefined } }))).toContain(
      'list=[1] loop=? none=undefined',
    );
  });

  it.each<[Record<string, unknown>, RegExp]>([
    [{ maxChildren: -1 }, /`options\.maxChildren`.*-1/],
    [{ maxChildren: 1.5 }, /`options\.maxChildren`.*1\.5/],
    [{ width: 19 }, /`options\.width`.*19/],
    [{ widht: 80 }, /options\.widht.*did you mean width/],
  ])('[V-6] refuses %j, by name and value', (options, message) => {
    expect(() => treeText(node('a'), options)).toThrow(message);
  });
});
