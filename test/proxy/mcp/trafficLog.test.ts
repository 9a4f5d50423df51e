import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTrafficLog } from '../../../proxy/mcp/trafficLog.ts';
import { readMessage } from '../../../src/protocol/mcp/message.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

function startLog(maxBytes?: number) {
  const file = join(temporaryDirectory(), 'mcp.jsonl');
  const warnings: string[] = [];
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, error: ignore, warn: (line: string) => void warnings.push(line) };
  return { file, warnings, log: createTrafficLog(file, systemClock, logger, maxBytes) };
}

const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('the log of messages', () => {
  it('[P-3] has who sent what, and how long an answer took', async () => {
    const { file, log } = startLog();
    log.passed('server', readMessage('{"id":1,"method":"roots/list"}'), 30);
    log.passed('client', readMessage('{"id":1,"error":{"code":-1,"message":"no"}}'), 40);
    log.passed('client', readMessage('{"method":"notifications/x"}'), 20);
    await log.flush();
    expect(linesOf(file)).toMatchObject([
      { from: 'server', kind: 'request', method: 'roots/list', id: 1, bytes: 30 },
      { from: 'client', kind: 'error', method: 'roots/list', ms: expect.any(Number) as number, bytes: 40 },
      { from: 'client', kind: 'notification', method: 'notifications/x', bytes: 20 },
    ]);
  });

  it('[P-3] is put aside before it grows above its limit, and is private', async () => {
    const { file, log } = startLog(1000);
    for (let count = 0; count < 40; count++) {
      log.note('something', { count });
      await log.flush();
    }
    expect(statSync(file).size).toBeLessThanOrEqual(1000);
    expect(statSync(`${file}.1`).size).toBeLessThanOrEqual(1000);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.2`)).toBe(false);
  });

  it('[P-3] that cannot be written is said once', async () => {
    const { file, log, warnings } = startLog();
    mkdirSync(file);
    for (let count = 0; count < 3; count++) {
      log.note('something');
      await log.flush();
    }
    expect(warnings).toEqual([expect.stringContaining('cannot be written') as string]);
  });

  it('[P-3] leaves out what the disk is too slow for, and says how much that was', async () => {
    const { file, log } = startLog();
    const name = 'x'.repeat(1000);
    for (let count = 0; count < 2000; count++) log.note(name);
    await log.flush();
    log.note('after');
    await log.flush();
    const lines = linesOf(file);
    expect(lines.length).toBeLessThan(1500);
    expect(lines.at(-1)).toMatchObject({ event: 'after', dropped: 2001 - lines.length });
  });
});
