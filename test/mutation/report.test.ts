import { describe, expect, it } from 'vitest';
import { notDrawn, read, type Report } from './report.ts';

const source = 'const a = 1;\nif (a > 0) {\n  b();\n}\n';
const at = (line: number, from: number, to: number, end = line) => ({
  start: { line, column: from },
  end: { line: end, column: to },
});
const mutant = (
  status: Report['files'][string]['mutants'][number]['status'],
  location = at(2, 5, 10),
  statusReason?: string,
) => ({
  mutatorName: 'ConditionalExpression',
  replacement: 'false',
  location,
  status,
  ...(statusReason !== undefined && { statusReason }),
});

describe('the report of a run', () => {
  const report: Report = {
    files: {
      'src/one.ts': {
        source,
        mutants: [
          mutant('Killed'),
          mutant('Timeout'),
          mutant('Survived', at(2, 12, 2, 4)),
          mutant('NoCoverage'),
          mutant('Ignored'),
          mutant('CompileError', at(2, 5, 10), notDrawn),
          mutant('CompileError', at(2, 5, 10), 'does not compile'),
        ],
      },
      'src/other.ts': { source, mutants: [mutant('Survived')] },
    },
  };
  const found = read(report, (file) => file === 'src/one.ts');

  it('[Q-3] says what became of each change that was tried', () => {
    expect(found.mutants.map(({ status }) => status)).toEqual(['killed', 'timeout', 'survived', 'uncovered']);
    expect(found.mutants.map(({ code }) => code)).toEqual(['a > 0', 'a > 0', '{\n  b();\n}', 'a > 0']);
  });

  it('[Q-3] counts apart what was not drawn, what does not compile, and texts for people', () => {
    expect({ ...found, mutants: found.mutants.length }).toEqual({ mutants: 4, drawable: 6, refused: 1, ignored: 1 });
  });
});
