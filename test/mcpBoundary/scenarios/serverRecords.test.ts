import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createServerRecords } from '../../../src/mcpBoundary/superviseMcpServer.ts';
import { openStore } from '../../../src/store/openStore.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

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
