import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Expected, Fault } from '../../../testing/demo/fault.ts';
import { faults } from '../../../testing/demo/faults.ts';
import type { FaultName } from '../../../testing/demo/faultNames.ts';
import { runTour } from '../../../testing/demo/tour.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const named = (name: FaultName): Fault => faults.find((fault) => fault.name === name) as Fault;

function tour(faultsToRun: readonly Fault[], signal = new AbortController().signal) {
  const directory = temporaryDirectory();
  return runTour({ faults: faultsToRun, store: join(directory, 'demo.sqlite'), directory, signal });
}

const expecting = (fault: Fault, expected: Partial<Expected>): Fault => ({
  ...fault,
  expected: { ...fault.expected, ...expected },
});

describe('a tour', () => {
  it('[G-1, G-4] sees a call through a restart, and its heartbeats wait for it', async () => {
    const report = await tour([named('ws-restart')]);
    expect(report).toMatchObject({ ok: true, problems: [], faults: [{ problems: [], got: { status: 'ok' } }] });
    expect(report.messages.duringRetries).toBeGreaterThan(0);
  });

  it('[I-2] runs the faults of one session one after the other, and reports them in the order of the table', async () => {
    const report = await tour([named('http-401'), named('hook-throws')]);
    expect(report).toMatchObject({ ok: true, sessions: 2 });
    expect(report.faults.map(({ fault }) => fault)).toEqual(['http-401', 'hook-throws']);
  });

  it('fails when a call does not end as it should, and says how', async () => {
    const { ok, faults: found } = await tour([expecting(named('http-401'), { outcome: 'ok' })]);
    expect([ok, found[0]?.ok]).toEqual([false, false]);
    expect(found[0]?.problems).toContain('expected ok, got auth (HTTP 401 Unauthorized)');
  });

  it('fails when something is not in the database', async () => {
    const records = [{ type: 'breaker/opened' }];
    const { faults: found } = await tour([expecting(named('http-401'), { records })]);
    expect(found[0]?.problems).toEqual(['not in the database: breaker/opened']);
  });

  it('fails when a turn fails', async () => {
    const run: Fault['run'] = () => Promise.reject(new Error('no such luck'));
    const { faults: found } = await tour([{ ...named('hook-throws'), run }]);
    expect(found[0]?.problems).toContain('no such luck');
  });

  it.runIf(process.platform === 'linux')('[I-3] fails when a process is left, and kills it', async () => {
    let pid = 0;
    const settle: Fault['settle'] = async () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1e6)'], { stdio: 'ignore' });
      pid = child.pid ?? 0;
      return undefined;
    };
    const report = await tour([{ ...named('hook-throws'), settle }]);
    expect(report).toMatchObject({ ok: false, processes: { left: [pid] }, problems: [`still alive: ${pid}`] });
  });

  it('ends in order when it is stopped in the middle of a call', async () => {
    const stop = new AbortController();
    const run: Fault['run'] = (turn) => {
      queueMicrotask(() => stop.abort());
      return turn.tool('tool-hangs', 'query');
    };
    const report = await tour([{ ...named('tool-hangs'), run }], stop.signal);
    expect(report).toMatchObject({ ok: false, interrupted: true, faults: [], processes: { left: [] } });
  });

  it('starts nothing when it was stopped before', async () => {
    const report = await tour([named('mcp-killed')], AbortSignal.abort());
    expect(report).toMatchObject({ interrupted: true, processes: { started: 0 } });
  });
});
