import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Registry } from '../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import { hasSqlite } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';

it.skipIf(!hasSqlite)(
  '[O-8] what was told before a store was open is on record without what is secret by then',
  async () => {
    const checked = checkGatewayOptions({ store: join(temporaryDirectory(), 'late.sqlite') });
    const registry = new Registry(checked, { retention: false });
    onTestFinished(() => registry.stop());
    await registry.start({ storeLater: true });
    const { bus, store } = registry.runtime;
    const input: Record<string, string> = { q: 'with learnt-meanwhile' };
    bus.tell({ type: 'mcp.tool_failed', integration: 'kb', tool: 'ask', input, error: '' });
    checked.secrets.learn({ KB_TOKEN: 'learnt-meanwhile' });
    input['apiKey'] = 'set-by-who-called';
    await registry.openStore();
    await store()?.flush();
    const records = await store()?.read({ category: 'mcp', limit: 10 });
    expect(records).toMatchObject([{ metadata: { input: { q: 'with [redacted]', apiKey: '[redacted]' } } }]);
  },
);
