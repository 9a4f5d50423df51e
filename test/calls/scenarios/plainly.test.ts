import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { StartSteps } from '../../../src/calls/startSteps.ts';
import { beginPlainly, startIntegration } from '../../support/startIntegration.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** Tests that choose the way of their calls themselves. */
const others = /(fastPath|plainCall|plainly)\.test\.ts$/;

/**
 * The tests of this room that start integrations, each once more: most of their calls are the first ones of an idle integration and go by the steps, and what
 * is told in one file has to go as it does by those.
 */
describe('plainly, calls go as they do by their steps:', async () => {
  beforeAll(() => beginPlainly(true));
  afterAll(() => beginPlainly(false));

  it('[U-13] the first call of an integration begins without them', async () => {
    const byStep = vi.spyOn(StartSteps.prototype, 'start');
    const { integration, clock } = startIntegration({}, (input) => input);
    await clock.settle();
    expect(await integration.call('ask')).toEqual({ ok: true, value: 'ask' });
    expect(byStep).not.toHaveBeenCalled();
  });

  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && !file.endsWith('.slow.test.ts') && !others.test(file),
  );
  for (const file of files) await import(/* @vite-ignore */ `${folder}${file}?plainly`);
});
