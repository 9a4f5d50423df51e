import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClaudeLog } from '../../../agents/claude/claudeLog.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const line = { attempt: 1, status: 'success', error_type: null, wait_time: 0, response_time: 1.5 } as const;

describe('the log file of Claude', () => {
  it('[C-5] is put aside when it is full, and takes twice its bound at most', async () => {
    const directory = temporaryDirectory();
    const log = createClaudeLog(new SimulatedClock(), undefined, 1000);
    for (let n = 0; n < 50; n++) log.write(directory, `prompt ${n}`, line);
    await log.flush();
    const names = ['claude_invocations.jsonl', 'claude_invocations.jsonl.1'];
    expect(readdirSync(directory).sort()).toEqual(names);
    for (const name of names) expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(1000);
  });

  it('[C-5] [I-1] holds nobody for more than a second', async () => {
    const clock = new SimulatedClock();
    const log = createClaudeLog(clock, undefined);
    const flushed = log.flush();
    await clock.settle();
    await flushed;
    expect(clock.pending).toBe(0);
  });

  it.skipIf(process.platform !== 'linux')(
    '[C-5] [I-3] that cannot be written is said once, and holds nobody',
    async () => {
      const said: string[] = [];
      const warn = (message: string) => void said.push(message);
      const log = createClaudeLog(new SimulatedClock(), { debug: warn, info: warn, warn, error: warn });
      log.write('/proc/nope', 'a prompt', line);
      log.write('/proc/nope', 'a prompt', line);
      await log.flush();
      expect(said).toEqual([expect.stringContaining('/proc/nope/claude_invocations.jsonl cannot be written')]);
    },
  );
});
