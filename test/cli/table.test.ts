import { describe, expect, it } from 'vitest';
import { renderTable } from '../../cli/table.ts';
import { fitName, fitText, textWidth } from '../../src/policy/text/textWidth.ts';

const columns = [{ title: 'NAME' }, { title: 'COUNT', align: 'right' }, { title: 'ERROR' }] as const;

describe('a table', () => {
  it('aligns its columns and leaves no space at the ends of lines', () => {
    expect(
      renderTable(
        columns,
        [
          ['kb', '3', 'timeout'],
          ['search', '12', ''],
        ],
        Infinity,
      ),
    ).toBe(['NAME    COUNT  ERROR', 'kb          3  timeout', 'search     12', ''].join('\n'));
  });

  it('cuts its widest column to fit the terminal, and no more than that', () => {
    const rows = [['kb', '3', 'no answer within 30 s']];
    expect(renderTable(columns, rows, 34).split('\n')[1]).toBe('kb        3  no answer within 30 s');
    expect(renderTable(columns, rows, 33).split('\n')[1]).toBe('kb        3  no answer within 30…');
  });

  it('counts wide characters as two columns', () => {
    expect(
      renderTable(
        columns,
        [
          ['日本', '1', 'x'],
          ['kb', '1', 'x'],
        ],
        Infinity,
      ),
    ).toBe(['NAME  COUNT  ERROR', '日本      1  x', 'kb        1  x', ''].join('\n'));
  });

  it('[E-7] [L-4] never cuts two names to the same, whatever else has to be cut', () => {
    const names = [
      'api.example/claude-opus-5#3fa2c1',
      'api.example/claude-opus-5#77b2d0',
      'api.example',
      'api.example:fallback',
    ];
    const rows = names.map((name) => [name, '3', 'no answer within 30 s']);
    const table = (width: number) =>
      renderTable([{ title: 'NAME', hasNames: true }, columns[1], columns[2]], rows, width)
        .trimEnd()
        .split('\n')
        .slice(1);
    expect(table(36)[0]).toBe('api.exa…3fa2c1      3  no answer wi…');
    for (const width of [80, 40, 30, 24, 10]) {
      const shown = table(width).map((line) => line.split(' ', 1)[0]);
      expect(new Set(shown).size).toBe(names.length);
    }
  });

  it('[L-6] leaves out columns by rank, cuts no figure and no column without a rank', () => {
    const ranked = [
      { title: 'NAME', hasNames: true },
      { title: 'CIRCUIT' },
      { title: 'COUNT', align: 'right', rank: 3 },
      { title: 'P95', align: 'right', rank: 2 },
      { title: 'ERROR', rank: 1 },
    ] as const;
    const rows = [['search', 'open, probe in 41s', '123456', '1.2s', 'the server exited with code 3']];
    const shown = (width: number) => renderTable(ranked, rows, width).split('\n')[1];
    expect(shown(71)).toBe('search  open, probe in 41s  123456  1.2s  the server exited with code 3');
    expect(shown(62)).toBe('search  open, probe in 41s  123456  1.2s  the server exited w…');
    expect(shown(61)).toBe('search  open, probe in 41s  1.2s  the server exited with cod…');
    expect(shown(54)).toBe('search  open, probe in 41s  1.2s  the server exited w…');
    expect(shown(53)).toBe('search  open, probe in 41s  the server exited with c…');
    expect(shown(47)).toBe('search  open, probe in 41s');
    // What has no rank goes below the row, at last.
    expect(renderTable(ranked, rows, 10).split('\n').slice(1, 4)).toEqual(['search', '  open,', '  probe i…']);
  });

  it('[L-6] puts text below its row where it would have less than 48 characters, and never cuts an id', () => {
    const stacking = [
      { title: 'ID', hasIds: true },
      { title: 'AGE', rank: 1 },
      { title: 'ERROR', stacks: true },
    ] as const;
    const id = '0f7c7a52-6d0e-4d6f-9d0a-4c1c5d6c7b8a';
    const error = 'the server at the other end has ended with code 3 before it said a word of what is wrong with it';
    const shown = (width: number) =>
      renderTable(stacking, [[id, '5m', error]], width)
        .trimEnd()
        .split('\n');
    expect(shown(94)).toEqual([
      `ID${' '.repeat(36)}AGE`,
      `${id}  5m`,
      `  ${error.slice(0, 92).replace(/ \S*$/, '')}`,
      '  with it',
    ]);
    expect(shown(60)).toEqual([
      `ID${' '.repeat(36)}AGE`,
      `${id}  5m`,
      '  the server at the other end has ended with code 3 before',
      '  it said a word of what is wrong with it',
    ]);
    expect(shown(30)[1]).toBe(id);
  });

  it('[L-6] puts an id that would widen the table for all other rows above its own row, whole', () => {
    const columns = [
      { title: 'ID', hasIds: true },
      { title: 'AGE', rank: 1 },
      { title: 'ERROR', stacks: true },
    ] as const;
    const long = 'x'.repeat(200);
    const error = 'the server has ended with code 3 before it said a word';
    const rows = [
      [long, '5m', error],
      ['agent:main', '3h', error],
    ];
    expect(renderTable(columns, rows, 80).trimEnd().split('\n')).toEqual([
      'ID          AGE  ERROR',
      long,
      `            5m   ${error}`,
      `agent:main  3h   ${error}`,
    ]);
    const whole = renderTable(columns, rows, 300).split('\n');
    expect([whole.length, whole[1]?.startsWith(`${long}  5m   the server`)]).toEqual([4, true]);
    expect(renderTable(columns, [[long, '5m', '']], 80)).toBe(`ID  AGE  ERROR\n${long}\n    5m\n`);
  });

  it('[L-6] puts a text that would be cut below its own row, and leaves those of other rows beside', () => {
    const stacking = [
      { title: 'NAME', hasNames: true },
      { title: 'WHAT', stacks: true },
    ] as const;
    const cause = 'the server exited with code 3 before it answered initialize; stderr: fatal: TOKEN is not set';
    const rows = [
      ['kb', 'all is well'],
      ['calendar', cause],
    ];
    expect(renderTable(stacking, rows, 80)).toBe(
      `NAME      WHAT\nkb        all is well\ncalendar\n  ${cause.slice(0, 75)}\n  ${cause.slice(76)}\n`,
    );
  });

  it('[L-6] says what a text below its row is, and folds it on as many lines as its column has', () => {
    const columns = [
      { title: 'NAME', hasNames: true },
      { title: 'COUNT', align: 'right' as const, rank: 1 },
      { title: 'FAILED', stacks: 'first' as const, belowTitle: 'failed: ', mostLines: 3 },
    ];
    const table = (failed: string) =>
      renderTable(columns, [['kb', '3', failed]], 20)
        .split('\n')
        .slice(1, -1);
    expect(table('timeout 7, transient 2, auth 1')).toEqual([
      'kb        3',
      '  failed: timeout 7,',
      '  transient 2, auth',
      '  1',
    ]);
    expect(table('timeout 7, transient 2, auth 1, crash 1, protocol 1').at(-1)).toBe('  1, crash 1, proto…');
    expect(table(`at /a/${'b'.repeat(24)}`).slice(1)).toEqual([
      '  failed: at',
      `  /a/${'b'.repeat(15)}`,
      `  ${'b'.repeat(9)}`,
    ]);
  });

  it('[L-2] lets no escape of a child through, only its own paint', () => {
    const paint = (text: string) => `<${text}>`;
    const rows = [[{ text: 'k\u001b[2Jb', paint }, '\u001b[31m1', 'a\nb']];
    expect(renderTable(columns, rows, Infinity).split('\n')[1]).toBe('<kb>        1  a b');
  });
});

describe('a column that stacks first', () => {
  it('[L-6] goes below its row before another column is left out for it', () => {
    const columns = (stacks: true | 'first') => [
      { title: 'NAME', hasNames: true },
      { title: 'CRASHES', align: 'right' as const, rank: 1 },
      { title: 'WHAT', stacks },
    ];
    const rows = [['server-filesystem', '7', 'keeps crashing: exit code 3 before it answered initialize']];
    expect(renderTable(columns('first'), rows, 70)).toBe(
      'NAME               CRASHES\nserver-filesystem        7\n  keeps crashing: exit code 3 before it answered initialize\n',
    );
    expect(renderTable(columns(true), rows, 70)).not.toContain('CRASHES');
    expect(renderTable(columns('first'), rows, 90)).toContain('CRASHES  WHAT');
  });
});

describe('the width of a text', () => {
  it.each([
    ['abc', 3],
    ['e\u0301', 1],
    ['日本', 4],
    ['👩‍💻', 2],
    ['🇩🇪', 2],
    ['\u200b', 0],
  ])('of %j is %i', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it('is kept when a name is cut in its middle', () => {
    expect([fitName('abcdefg', 7), fitName('abcdefg', 6), fitName('abcdefg', 5)]).toEqual([
      'abcdefg',
      'abc…fg',
      'ab…fg',
    ]);
    expect(fitName('日本語日本語', 7)).toBe('日…語');
  });

  it('is kept when the text is cut, without half a character', () => {
    expect([fitText('日本語', 6), fitText('日本語', 5), fitText('日本語', 4)]).toEqual(['日本語', '日本…', '日…']);
  });
});
