import { describe, expect, it } from 'vitest';
import { renderTable } from '../../src/cli/table.ts';
import { faults } from '../../src/demo/faults.ts';
import { faultNames } from '../../src/demo/faultNames.ts';
import type { FaultReport } from '../../src/demo/report.ts';
import { outcomeLine, tableHeadings, tableRow } from '../../src/demo/table.ts';

const report: FaultReport = {
  fault: 'http-silent',
  ok: true,
  problems: [],
  got: { status: 'error', kind: 'timeout', synthetic: true, retries: 2, message: 'No answer within 600 ms' },
  elapsedMs: 2412,
  next: { heartbeats: 25, answered: true },
  recorded: ['session/watchdog_fired', 'session/turn_ended'],
};

describe('the table of the tour', () => {
  it('says of a fault what the caller got, how long it took, what came next and what was recorded', () => {
    expect(tableRow(report)).toEqual([
      'http-silent',
      'synthetic: timeout, 2 retries',
      '2.4s',
      '25 heartbeats, answered',
      'session/watchdog_fired',
    ]);
  });

  it('fits 100 columns with its longest texts', () => {
    const longest = { ...report, fault: 'cli-stubborn' as const };
    const columns = tableHeadings.map((title) => ({ title }));
    expect(renderTable(columns, [tableRow(longest)], 100)).not.toContain('…');
  });

  it('says nothing where nothing came', () => {
    const got = { status: 'nothing', synthetic: false, retries: 0 } as const;
    const next = { heartbeats: 0, answered: false };
    expect(tableRow({ ...report, got, next, recorded: [] }).slice(1)).toEqual([
      'nothing',
      '2.4s',
      'nothing',
      'nothing',
    ]);
  });

  it('tells what a call failed with, and what a result came through', () => {
    expect(outcomeLine(report)).toBe('synthetic: timeout, 2 retries: No answer within 600 ms');
    const got = { status: 'ok', synthetic: false, retries: 1, message: 'gateway closed (1012)' } as const;
    expect(outcomeLine({ ...report, got })).toBe('result, 1 retry, despite: gateway closed (1012)');
  });
});

describe('the faults of the tour', () => {
  it('are those that the command line names, in that order', () => {
    expect(faults.map(({ name }) => name)).toEqual(faultNames);
  });

  it('all say how their call must end and what must be recorded', () => {
    for (const { expected } of faults) {
      expect(expected.mostMs).toBeGreaterThan((expected.leastMs ?? 0) + 2000);
      expect(expected.records).not.toEqual([]);
    }
  });
});
