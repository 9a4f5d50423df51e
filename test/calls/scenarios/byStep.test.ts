import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe } from 'vitest';
import { takeSteps } from '../../support/startIntegration.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** Tests that choose the way of their calls themselves. */
const others = /(byStep|fastPath|plainCall)\.test\.ts$/;

/** The tests of this room that start integrations, each once more: what is told in one file has to go as it does by its steps. */
describe('by their steps, calls go as they do plainly:', async () => {
  beforeAll(() => takeSteps(true));
  afterAll(() => takeSteps(false));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && !file.endsWith('.slow.test.ts') && !others.test(file),
  );
  for (const file of files) await import(/* @vite-ignore */ `${folder}${file}?by-step`);
});
