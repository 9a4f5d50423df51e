import { describe, expect, it, onTestFinished } from 'vitest';
import { AttemptError, createGateway, type GatewayOptions } from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/index.ts';
import { deferred } from '../../support/deferred.ts';
import { parseOpenMetrics } from '../../support/openMetrics.ts';
import { parsePrometheus } from '../../support/prometheusText.ts';

const policy = { retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 10 } } } as const;

/** A gateway with one integration that does what it is asked to. */
async function start(options: GatewayOptions = {}, name = 'kb') {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, ...options });
  onTestFinished(() => gateway.stop());
  const hanging = deferred<string>();
  const kb = gateway.integration(name, { policy, effect: 'readOnly' }, (input: 'works' | 'fails' | 'hangs') => {
    if (input === 'fails') throw new AttemptError({ kind: 'transient', message: 'no', outcome: 'failed' });
    return input === 'hangs' ? hanging.promise : input;
  });
  await gateway.start();
  const call = async (input: Parameters<typeof kb.call>[0]) => {
    const outcome = kb.call(input);
    await clock.advance(1000);
    return outcome;
  };
  const families = async () => parsePrometheus((await gateway.metrics()).text);
  const value = async (family: string, labels: object = {}) =>
    (await families())[`unwedge_${family}`]?.metrics.find((each) =>
      Object.entries({ integration: 'kb', ...labels }).every(([label, said]) => each.labels?.[label] === said),
    )?.value;
  return { gateway, clock, kb, call, hanging, value, families };
}

describe('the metrics of a gateway', () => {
  it('[O-12] are of its calls since it was made, its circuits and what is under way as of now', async () => {
    const { kb, call, clock, hanging, value, families } = await start();
    await call('works');
    await call('fails');
    // More than one time that figures are handed on.
    await clock.advance(60_000);
    await call('works');
    const release = kb.breaker.isolate();
    await call('works');
    expect(await value('circuit_state', { state: 'isolated' })).toBe('1');
    release();
    const hangs = kb.call('hangs');
    expect(await value('calls_total', { result: 'success' })).toBe('2');
    expect(await value('calls_total', { result: 'transient' })).toBe('1');
    expect([await value('retries_total'), await value('refusals_total')]).toEqual(['1', '1']);
    expect(await value('circuit_state', { state: 'closed' })).toBe('1');
    expect(await value('calls_in_flight')).toBe('1');
    expect((await families())['unwedge_call_duration_seconds']?.type).toBe('HISTOGRAM');
    hanging.resolve('works');
    await hangs;
    expect([await value('calls_in_flight'), await value('calls_total', { result: 'success' })]).toEqual(['0', '3']);
  });

  it('[O-12] tell of the alerts that are open', async () => {
    const { call, value } = await start({ alerts: { failures: 2, windowMs: 60_000 } });
    await call('fails');
    expect(await value('alert_open')).toBeUndefined();
    await call('fails');
    expect(await value('alert_open')).toBe('1');
  });

  it('[O-12] are in the format that the request asks for', async () => {
    const { gateway, call } = await start();
    await call('works');
    const plain = 'text/plain; version=0.0.4; charset=utf-8';
    for (const options of [undefined, {}, { accept: undefined }, { accept: '' }, { accept: '*/*' }]) {
      const { text, contentType } = await gateway.metrics(options);
      expect([contentType, Object.keys(parsePrometheus(text))]).toEqual([
        plain,
        expect.arrayContaining(['unwedge_calls_total']),
      ]);
    }
    const { text, contentType } = await gateway.metrics({ accept: 'application/openmetrics-text;version=1.0.0' });
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(parseOpenMetrics(text)['unwedge_calls']?.samples).toMatchObject([
      { labels: { integration: 'kb' }, value: 1 },
    ]);
  });

  it('[O-8] [O-12] hold no secret of a name', async () => {
    const { gateway, call } = await start({}, 'api sk-ant-api03-planted0000000000000000000000');
    await call('works');
    const { text } = await gateway.metrics();
    expect(text).not.toContain('planted');
    expect(text).toMatch(/integration="api \[redacted\]#\w{6}"/);
  });

  it('[O-12] are those of one gateway, before its start and after its stop too', async () => {
    const other = createGateway();
    other.integration('other', {}, () => 1);
    expect(parsePrometheus((await other.metrics()).text)['unwedge_circuit_state']?.metrics).toHaveLength(5);
    const { gateway, call, value } = await start();
    await call('works');
    await gateway.stop();
    expect(await value('calls_total', { result: 'success' })).toBe('1');
    expect((await other.metrics()).text).not.toContain('kb');
  });

  it('[U-7] refuse an option that is wrong', async () => {
    const { gateway } = await start();
    const wrong = { accept: 1 } as unknown as { accept: string };
    await expect(gateway.metrics(wrong)).rejects.toThrow('Expected `metrics.accept` to be a string, got 1');
  });
});
