import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const planted = {
  key: 'plantedkey-4f9a1c77d2e84b6f9d0e',
  bearer: 'plantedbearer-9b1de6a04c7742e5',
  custom: 'plantedcustom-77aa0042beefcafe',
  prompt: 'plantedprompt the harbour at dawn',
  answer: 'plantedanswer nobody may read this',
  refusal: 'plantedrefusal what the upstream said',
  id: 'planteddevice-00aa11bb22cc33dd',
} as const;

describe('what a proxy keeps', () => {
  it('[O-8] [E-7] holds nothing of what is said and no header: not store, not events, not logs, not status', async () => {
    const directory = temporaryDirectory();
    const lines: unknown[] = [];
    const log = (...words: unknown[]): void => void lines.push(words);
    const { ask, facts, registry, stop } = await startApiProxy({
      script: [
        { text: planted.answer },
        { text: planted.answer, until: 'text', then: 'reset' },
        { text: planted.answer, until: 'event', then: 'reset' },
        { do: 'refuse', status: 429, error: planted.refusal, headers: { 'anthropic-organization-id': planted.id } },
        { do: 'refuse', status: 400, error: planted.refusal },
        { until: 'start', then: 'error', error: planted.refusal },
        { do: 'reset' },
      ],
      policy: { maxAttempts: 1 },
      gateway: {
        store: join(directory, 'kept.sqlite'),
        logger: { debug: log, info: log, warn: log, error: log },
      },
    });
    const asked = {
      path: `/v1/responses?key=${planted.key}`,
      body: streamed({ messages: [planted.prompt], metadata: { user_id: planted.id } }),
      headers: {
        'x-api-key': planted.key,
        authorization: `Bearer ${planted.bearer}`,
        'x-custom-secret': planted.custom,
        'x-claude-code-session-id': planted.id,
      },
    };
    for (let count = 0; count < 7; count++) await ask({ ...asked, path: `/${count}${asked.path}` }).got;
    const status = JSON.stringify([registry.status(), registry.tree()]);
    const told = JSON.stringify(facts);
    expect(told).toContain('call.failed');
    await stop();
    const kept = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'));
    expect(kept.join('').length).toBeGreaterThan(1000);
    for (const [name, secret] of Object.entries(planted)) {
      for (const [where, text] of Object.entries({ status, told, log: JSON.stringify(lines), store: kept.join('') })) {
        expect(text.includes(secret), `${name} in ${where}`).toBe(false);
      }
    }
  });
});
