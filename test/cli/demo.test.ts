import { describe, expect, it } from 'vitest';
import { createDemoScreen } from '../../cli/demo.ts';
import { faults } from '../../testing/demo/faults.ts';
import { httpOutage, httpSilent, tour } from '../testing/demo/faultReports.ts';

const cause = 'The circuit of http-outage is open: HTTP 503 Service Unavailable; it is tried again in 5s';

/** What a tour says on a terminal of a width, and its closing table. */
function shown(columns: number, report = tour) {
  let text = '';
  const screen = createDemoScreen({
    stdout: { write: (part) => (text += part) },
    stderr: { write: () => undefined },
    env: { NO_COLOR: '1' },
    isTTY: true,
    columns,
    signal: new AbortController().signal,
    now: () => 0,
  });
  screen.begin(faults);
  for (const each of report.faults) screen.fault(each);
  screen.end(report, false);
  const lines = text.split('\n');
  const heading = lines.findIndex((line) => line.startsWith('FAULT'));
  return { text, lines, table: lines.slice(heading, lines.indexOf('', heading)) };
}

describe('the screen of the tour', () => {
  it.each([60, 80, 100, 120])('[L-6] fits %i columns, with nothing cut', (columns) => {
    const { lines, text } = shown(columns);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(text).not.toContain('…');
  });

  it.each([
    [
      60,
      [
        'FAULT        THE CALLER GOT                    SESSION',
        'http-silent  synthetic: timeout, 2 retries     answered',
        'http-outage  synthetic: circuit_open, 1 retry  answered',
      ],
    ],
    [
      80,
      [
        'FAULT        THE CALLER GOT                     TOOK  SESSION   HEARTBEATS',
        'http-silent  synthetic: timeout, 2 retries      2.4s  answered          25',
        'http-outage  synthetic: circuit_open, 1 retry  112ms  answered           2',
      ],
    ],
    [
      120,
      [
        'FAULT        THE CALLER GOT                     TOOK  SESSION   HEARTBEATS  RECORDED',
        'http-silent  synthetic: timeout, 2 retries      2.4s  answered          25  session/watchdog_fired',
        'http-outage  synthetic: circuit_open, 1 retry  112ms  answered           2  breaker/opened',
      ],
    ],
  ])('[L-6] closes at %i columns with a table that says that sessions answered', (columns, table) => {
    expect(shown(columns).table).toEqual(table);
  });

  it.each([60, 80])('[L-6] has a cause below its line at %i columns, whole', (columns) => {
    const { lines } = shown(columns);
    const at = lines.indexOf('  ✓ http-outage   112ms  synthetic: circuit_open, 1 retry');
    expect(
      lines
        .slice(at + 1, at + 3)
        .map((line) => line.trim())
        .join(' '),
    ).toBe(cause);
  });

  it('[L-6] has a cause that fits beside its outcome', () => {
    expect(shown(80).lines).toContain('  ✓ http-silent    2.4s  synthetic: timeout, 2 retries: No answer within 600ms');
  });

  it('[L-6] wraps what did not end as it should', () => {
    const problems = ['expected a result of the kind circuit_open, got one of the kind timeout after 2 attempts'];
    const { lines } = shown(60, { ...tour, ok: false, faults: [{ ...httpOutage, ok: false, problems }, httpSilent] });
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(lines).toContain('      expected a result of the kind circuit_open, got one of');
  });
});
