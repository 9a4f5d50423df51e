import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createServerRecords } from '../../../../proxy/boundary/superviseMcpServer.ts';
import { openStore } from '../../../../src/store/openStore.ts';
import { systemClock } from '../../../../src/runtime/systemClock.ts';
import { RecordedFacts } from '../../../support/facts.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

it('[I-4] writes what was told at once when the process may end in this turn', async () => {
  const path = join(temporaryDirectory(), 'kb.sqlite');
  const records = createServerRecords(systemClock, undefined, path);
  const reader = await openStore({ path, clock: systemClock, facts: new RecordedFacts() });
  onTestFinished(() => Promise.all([records.close(), reader.close()]).then(() => undefined));
  await records.flush();
  records.bus.tell({ type: 'host.uncaught', origin: 'uncaughtException', error: 'no database', wentOn: false });
  void records.flush();
  expect(await reader.read({ limit: 10 })).toMatchObject([{ category: 'host', type: 'uncaught' }]);
});

it('[O-8] records what was told before its store was open as it is masked then, and knows the password of the store', async () => {
  const path = join(temporaryDirectory(), 'kb.sqlite');
  const records = createServerRecords(systemClock, undefined, path);
  const reader = await openStore({ path, clock: systemClock, facts: new RecordedFacts() });
  onTestFinished(() => Promise.all([records.close(), reader.close()]).then(() => undefined));
  const input: Record<string, string> = { q: 'x' };
  records.bus.tell({ type: 'mcp.tool_failed', integration: 'kb', tool: 'ask', input, error: '' });
  input['apiKey'] = 'set-by-who-called';
  await records.flush();
  expect(await reader.read({ limit: 10 })).toMatchObject([{ metadata: { input: { q: 'x', apiKey: '[redacted]' } } }]);
  // Refused for its lease, so that nothing is waited for.
  const address = 'postgres://me:of-the-store@127.0.0.1:9/kb?leaseMs=1';
  const inPostgres = createServerRecords(systemClock, undefined, address);
  const told: unknown[] = [];
  inPostgres.bus.on('host.uncaught', (fact) => void told.push(fact));
  await expect(inPostgres.flush()).rejects.toThrow('leaseMs');
  const error = 'refused: of-the-store';
  inPostgres.bus.tell({ type: 'host.uncaught', origin: 'uncaughtException', error, wentOn: false });
  expect(told).toMatchObject([{ error: 'refused: [redacted]' }]);
});
