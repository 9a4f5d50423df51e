import { describe, expect, it } from 'vitest';
import { configKeys, variableNames } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/loadConfig.ts';
import { problemsOf } from './folder.ts';

const load = (env: Readonly<Record<string, string>>) => loadConfig({ file: false, env });

describe('the environment', () => {
  it.each([
    ['UNWEDGE_DB', 'x.sqlite', { store: 'x.sqlite' }],
    ['UNWEDGE_ALERTS_FAILURES', '3', { alerts: { failures: 3 } }],
    ['UNWEDGE_ALERTS_WINDOW', '90s', { alerts: { windowMs: 90_000 } }],
    ['UNWEDGE_ALERTS_WINDOW', '250', { alerts: { windowMs: 250 } }],
    ['UNWEDGE_RETENTION_MAX_BYTES', '2000000', { retention: { maxBytes: 2_000_000 } }],
    ['UNWEDGE_RETENTION', 'false', { retention: false }],
    ['UNWEDGE_CONTROL', 'true', { control: true }],
    ['UNWEDGE_CONTROL', '0', { control: false }],
    ['UNWEDGE_SYNCHRONOUS', 'FULL', { synchronous: 'FULL' }],
    ['UNWEDGE_ENVIRONMENT', 'safe', { environment: 'safe' }],
    ['UNWEDGE_SESSIONS_WATCHDOG_TOOL_CALL', ' 1m ', { sessions: { watchdog: { toolCallMs: 60_000 } } }],
  ])('sets a value: %s=%s', async (variable, text, options) => {
    const loaded = await load({ [variable]: text });
    expect(loaded).toMatchObject({ options, warnings: [] });
    expect(Object.values(loaded.origins)).toEqual([{ from: 'environment', variable }]);
  });

  it.each([
    ['UNWEDGE_ALERTS_FAILURES', 'five', 'expected a positive integer, got "five"'],
    ['UNWEDGE_ALERTS_FAILURES', '0', 'expected a positive integer, got 0'],
    ['UNWEDGE_RETENTION_MAX_AGE', 'ever', 'expected a duration above 0 (ms, or text such as 30s), got "ever"'],
    ['UNWEDGE_RETENTION_MAX_AGE', '0s', 'expected a duration above 0 (ms, or text such as 30s), got "0s"'],
    ['UNWEDGE_CONTROL', 'yes', 'expected true or false, got "yes"'],
    ['UNWEDGE_ALERTS', 'true', 'expected false, got "true"'],
    ['UNWEDGE_SYNCHRONOUS', 'full', 'expected one of NORMAL, FULL, got "full"'],
    ['UNWEDGE_ALERTS_WEBHOOK_URL', 'x-hidden-x', 'expected an http or https address, got a string that is not shown'],
  ])('is refused by the name of the variable: %s=%s', async (variable, text, said) => {
    expect(await problemsOf(load({ [variable]: text }))).toEqual([`${variable}: ${said}`]);
  });

  it.each([
    ['UNWEDGE_ALERT_FAILURES', 'unknown variable UNWEDGE_ALERT_FAILURES; did you mean UNWEDGE_ALERTS_FAILURES?'],
    [
      'UNWEDGE_RETENTION_MAX_AGE_MS',
      'unknown variable UNWEDGE_RETENTION_MAX_AGE_MS; did you mean UNWEDGE_RETENTION_MAX_AGE?',
    ],
    ['UNWEDGE_STORE', 'unknown variable UNWEDGE_STORE; did you mean UNWEDGE_DB?'],
    ['UNWEDGE_STOR', 'unknown variable UNWEDGE_STOR; did you mean UNWEDGE_DB?'],
    ['UNWEDGE_ALRT_WINDW_MS', 'unknown variable UNWEDGE_ALRT_WINDW_MS; did you mean UNWEDGE_ALERTS_WINDOW?'],
    ['UNWEDGE_CONFG', 'unknown variable UNWEDGE_CONFG; did you mean UNWEDGE_CONFIG?'],
    ['UNWEDGE_COLOUR', 'unknown variable UNWEDGE_COLOUR'],
  ])('warns of %s', async (variable, warning) => {
    expect(await load({ [variable]: 'x' })).toMatchObject({ options: {}, warnings: [warning] });
  });

  it.each([
    ['UNWEDGE_RUN', 'mark'],
    ['UNWEDGE_CONTROL', ''],
    ['UNWEDGE_CONTROL', '  '],
    ['HOME', '/root'],
  ])('says nothing by %s=%j', async (variable, text) => {
    expect(await load({ [variable]: text })).toMatchObject({ options: {}, warnings: [] });
  });

  it('switches off whatever figures stand beside it', async () => {
    const { options } = await load({ UNWEDGE_ALERTS: 'false', UNWEDGE_ALERTS_FAILURES: '3' });
    expect(options).toEqual({ alerts: false });
  });

  it('has one variable for each key', () => {
    expect(new Set(variableNames).size).toBe(variableNames.length);
    const without = configKeys.filter(({ path, variable }) => variable === undefined && !path.includes('*'));
    expect(without.map(({ path }) => path.join('.'))).toEqual([
      'alerts.command.args',
      'alerts.command.env',
      'alerts.command.envAllow',
      'alerts.webhook.headers',
      'inbox.notify.command.args',
      'inbox.notify.command.env',
      'inbox.notify.command.envAllow',
      'inbox.notify.webhook.headers',
      'toolCallRetry.backoffMs',
      'toolCallRetry.transientPatterns',
    ]);
  });
});
