import { expect, it } from 'vitest';
import { runFresh } from '../../support/freshProcess.ts';

const ofTelemetry = (packages: readonly string[]): readonly string[] =>
  packages.filter((name) => name.startsWith('@opentelemetry/'));

it('[O-5] [U-8] a gateway without telemetry loads nothing of OpenTelemetry', async () => {
  const { complaints, packages } = await runFresh(`
    import { createGateway } from 'unwedge';
    const gateway = createGateway();
    const kb = gateway.integration('kb', {}, () => 'found');
    await gateway.start();
    await kb.call('question');
    await gateway.stop();`);
  expect(complaints).toBe('');
  expect(ofTelemetry(packages)).toEqual([]);
});

it('[O-5] [U-8] unwedge/otel loads the API alone, which is an optional peer', async () => {
  const { complaints, packages, printed } = await runFresh(`
    import { createGateway } from 'unwedge';
    import { withTelemetry } from 'unwedge/otel';
    const gateway = createGateway();
    const off = withTelemetry(gateway);
    const kb = gateway.integration('kb', {}, () => 'found');
    await gateway.start();
    console.log(JSON.stringify((await kb.call('question')).ok));
    off();
    await gateway.stop();`);
  expect(complaints).toBe('');
  expect(printed).toBe(true);
  expect(ofTelemetry(packages)).toEqual(['@opentelemetry/api']);
});
