import { describe, expect, it } from 'vitest';
import { othersText } from '../../cli/liveRuntimes.ts';

const now = Date.UTC(2026, 0, 1);
const other = (pid: number, database: string) => ({ name: 'gateway.mjs', pid, startedAt: now - 60_000, database });

describe('gateways on other databases', () => {
  it('[I-4] are told with the command that looks there, whole, and of a PostgreSQL database without a password', () => {
    const others = [other(7, '/srv/a b.sqlite'), other(8, 'postgres://me:s3cret@db:5432/gw')];
    expect(othersText(others, now, { columns: 30 })).toBe(
      [
        'Gateways and proxies that run',
        'on other databases:',
        '  gateway.mjs (pid 7, started',
        '  1m ago)',
        "    unwedge status --db '/srv/a b.sqlite'",
        '  gateway.mjs (pid 8, started',
        '  1m ago)',
        '    unwedge status --db postgres://db:5432/gw',
        '',
      ].join('\n'),
    );
  });

  it('[I-4] are told by their number, where they are many', () => {
    const text = othersText(
      Array.from({ length: 10 }, (_, pid) => other(pid, '/db')),
      now,
      { columns: 80 },
    );
    expect(text.match(/unwedge status/g)).toHaveLength(8);
    expect(text).toContain('… and 2 more: --json has all');
  });
});
