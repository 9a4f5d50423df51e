import { describe, expect, it } from 'vitest';
import { demoRow, outcomeLine } from '../../../cli/demo.ts';
import { httpSilent } from '../../testing/demo/faultReports.ts';

const rowOf = (report = httpSilent) =>
  demoRow(report, (text) => text).map((cell) => (typeof cell === 'string' ? cell : cell.text));

describe('the table of the tour', () => {
  it('[L-2] says of a fault what the caller got, how long it took, what came next and what was recorded', () => {
    expect(rowOf()).toEqual([
      'http-silent',
      'synthetic: timeout, 2 retries',
      '2.4s',
      'answered',
      '25',
      'session/watchdog_fired',
    ]);
  });

  it('[L-2] says nothing where nothing came', () => {
    const got = { status: 'nothing', synthetic: false, retries: 0 } as const;
    const next = { heartbeats: 0, answered: false };
    expect(rowOf({ ...httpSilent, got, next, recorded: [] }).slice(1)).toEqual([
      'nothing',
      '2.4s',
      'nothing',
      '0',
      'nothing',
    ]);
  });

  it('[L-2] tells what a call failed with, and what a result came through', () => {
    expect(outcomeLine(httpSilent)).toEqual({
      text: 'synthetic: timeout, 2 retries',
      cause: 'No answer within 600ms',
    });
    const got = { status: 'ok', synthetic: false, retries: 1, message: 'gateway closed (1012)' } as const;
    expect(outcomeLine({ ...httpSilent, got })).toEqual({
      text: 'result, 1 retry',
      cause: 'despite: gateway closed (1012)',
    });
  });
});
