import { describe, expect, it } from 'vitest';
import { alertText, nextOfAlert } from '../../../src/policy/records/alertText.ts';
import { troubleText } from '../../../operator/troubleText.ts';
import type { FactOf } from '../../../src/policy/facts/facts.ts';

const minute = 60_000;
const place = { host: 'web-1', pid: 4711, gateway: 'gateway.mjs', database: '/srv/db.sqlite' } as const;
const raised: FactOf<'alert.raised'> = {
  type: 'alert.raised',
  alert: 'one',
  integration: 'kb',
  because: 'failures',
  failures: 5,
  crashes: 0,
  windowMs: 10 * minute,
  quietMs: 10 * minute,
  kind: 'transient',
  message: 'HTTP 503',
  ...place,
  next: 'unwedge why kb --db /srv/db.sqlite',
};

describe('the line of an alert', () => {
  it('[O-3] says where it comes from and what to type next', () => {
    expect(alertText(raised)).toBe(
      'Alert: kb failed 5 times within 10m; last: HTTP 503 (gateway.mjs, pid 4711 on web-1); next: unwedge why kb --db /srv/db.sqlite',
    );
    expect(alertText({ ...raised, because: 'crashes', crashes: 1, next: undefined })).toBe(
      'Alert: kb crashed 1 time within 10m; last: HTTP 503 (gateway.mjs, pid 4711 on web-1)',
    );
    expect(alertText({ ...raised, because: 'rate', message: 'Success rate 50 %' })).toMatch(
      /^Alert: kb: Success rate 50 % \(/,
    );
  });

  it('[O-3] keeps the command whole, however much others said', () => {
    const line = alertText({ ...raised, message: `two\nlines\u001b[2J ${'x'.repeat(2000)}` });
    expect(line).toContain('last: two lines xxx');
    expect(line).toContain('x… (gateway.mjs');
    expect(line).toMatch(/; next: unwedge why kb --db \/srv\/db\.sqlite$/);
    expect(line.length).toBeLessThan(500);
  });

  it('[O-3] says of an all-clear what ended it, and where', () => {
    const about = { alert: 'one', integration: 'kb', failures: 7, crashes: 0, afterMs: 12 * minute, ...place };
    expect(alertText({ type: 'alert.cleared', by: 'closed', ...about })).toBe(
      'All clear: kb, after 12m (its circuit closed; gateway.mjs, pid 4711 on web-1)',
    );
  });
});

describe('the command after an alert', () => {
  it('[O-3] is the one that says most of its kind, as a shell takes it', () => {
    expect(nextOfAlert('kb', 'failures', '/srv/a b.sqlite')).toBe("unwedge why kb --db '/srv/a b.sqlite'");
    expect(nextOfAlert('my kb', 'crashes', undefined)).toBe("unwedge events --integration 'my kb' --failed");
    expect(nextOfAlert('kb', 'rate', 'db')).toBe('unwedge report --integration kb --db db');
  });

  it('[O-3] [O-8] names a PostgreSQL database without who signs in', () => {
    const next = nextOfAlert('kb', 'failures', 'postgres://me:s3cret@db.example:5432/gw?schema=uw');
    expect(next).toBe("unwedge why kb --db 'postgres://db.example:5432/gw?schema=uw'");
  });
});

describe('what an alert is about', () => {
  it('[O-3] is told in the past once it is over', () => {
    const alert = { because: 'crashes', kind: 'crash', message: 'exited with code 3', crashes: 9 } as const;
    expect(troubleText(alert)).toBe('keeps crashing: exited with code 3');
    expect(troubleText(alert, true)).toBe('crashed 9 times: exited with code 3');
    expect(troubleText({ ...alert, because: 'failures', kind: 'timeout' }, true)).toBe('timeout: exited with code 3');
  });
});
