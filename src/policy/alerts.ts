import type { AlertCount } from './facts/alertFacts.ts';
import { type FailureKind, failureKinds } from './failures/failure.ts';
import {
  byName,
  duration,
  type GivenValues,
  integer,
  type Given,
  number,
  orOff,
  section,
} from './options/optionKeys.ts';
import { readGiven } from './options/readOptions.ts';

/** Integrations that deliver alerts; none is raised for them, or one that cannot be delivered would raise the next. */
export const deliveryNames = { command: 'alert:command', webhook: 'alert:webhook' } as const;

export type AlertRule = Readonly<Record<keyof AlertThresholds, number>>;

const tenMinutes = 10 * 60_000;

/** O-3: 5 final failures within 10 min, all clear after 10 min without one, nor a call that an open circuit refused; the same for crashes. */
export const defaultAlertRule: AlertRule = {
  failures: 5,
  crashes: 5,
  windowMs: tenMinutes,
  quietMs: tenMinutes,
  successBelow: 0,
  minCalls: 20,
};

/** The rule of an integration; undefined for one that raises no alerts. */
export type AlertRuleOf = (integration: string) => AlertRule | undefined;

const failures = 'Final failures of one integration within `windowMs` that raise an alert.';
const crashes = 'Crashes of one integration within `windowMs` that raise an alert, whatever became of its calls.';
const quiet = 'Time without a final failure and without a crash after which all is clear.';
const rate =
  'Share of calls within `windowMs`, from 0 to 1, that must succeed: a lower one raises an alert. 0: none is asked for.';

const ownThresholds = {
  /** Final failures within `windowMs` that raise it, at least 1. @defaultValue 5 */
  failures: integer({ usually: '`alerts.failures`', help: 'As `alerts.failures`.' }),
  /** Crashes within `windowMs` that raise it, at least 1: losses of the integration's process, and restarts that failed. @defaultValue 5 */
  crashes: integer({ usually: '`alerts.crashes`', help: 'As `alerts.crashes`.' }),
  /** In ms, above 0. @defaultValue 10 min */
  windowMs: duration({ usually: '`alerts.windowMs`', help: 'As `alerts.windowMs`.' }),
  /** Time without a final failure and without a crash after which all is clear, in ms, above 0. @defaultValue 10 min */
  quietMs: duration({ usually: '`alerts.quietMs`', help: 'As `alerts.quietMs`.' }),
  /**
   * Share of calls within `windowMs` that must succeed, from 0 to 1: a lower one raises an alert, which is cleared once the share is high
   * enough again. Failures are those that count for `failures`. @defaultValue 0: none is asked for
   */
  successBelow: number({ max: 1, usually: '`alerts.successBelow`', help: 'As `alerts.successBelow`.' }),
  /** Calls within `windowMs` below which `successBelow` is not judged, at least 1. @defaultValue 20 */
  minCalls: integer({ usually: '`alerts.minCalls`', help: 'As `alerts.minCalls`.' }),
};

/** Thresholds at which an alert is raised for an integration, and is over. */
export interface AlertThresholds extends Given<typeof ownThresholds> {}

const integrationsKey = {
  /** Thresholds of single integrations, by their names; `false`: it raises none. @defaultValue those for every integration */
  integrations: byName(
    orOff(section(ownThresholds, { given: {} as AlertThresholds, help: 'Thresholds of one integration.' }), {
      help: 'Thresholds of one integration; `false`: it raises none.',
    }),
    { help: 'Thresholds of single integrations, by their names.' },
  ),
};

/** Rules for raising alerts, as options. */
export const alertRuleKeys = {
  failures: integer({ default: defaultAlertRule.failures, help: failures }),
  crashes: integer({ default: defaultAlertRule.crashes, help: crashes }),
  windowMs: duration({ default: defaultAlertRule.windowMs, help: 'See `failures`.' }),
  quietMs: duration({ default: defaultAlertRule.quietMs, help: quiet }),
  successBelow: number({ max: 1, default: defaultAlertRule.successBelow, help: rate }),
  minCalls: integer({
    default: defaultAlertRule.minCalls,
    help: 'Of fewer calls within `windowMs`, `successBelow` judges nothing.',
  }),
  ...integrationsKey,
};

/** Thresholds for every integration, and for single ones by their names; `false` for one that raises none. */
export interface AlertRules extends AlertThresholds, Given<typeof integrationsKey> {}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkAlertRules(name: string, rules: AlertRules): AlertRuleOf {
  return alertRules(readGiven(name, rules, alertRuleKeys));
}

/** The rules that were read. */
export function alertRules({ integrations = {}, ...usual }: GivenValues<typeof alertRuleKeys>): AlertRuleOf {
  const general = { ...defaultAlertRule, ...usual };
  const special = new Map(
    Object.entries(integrations).map(([name, own]): [string, AlertRule | undefined] => [
      name,
      own === false ? undefined : { ...general, ...own },
    ]),
  );
  return (integration) => (special.has(integration) ? special.get(integration) : general);
}

/** Tells whether a final failure of this kind counts (table 1). */
export function countsForAlerts(kind: FailureKind): boolean {
  return failureKinds[kind].alerts;
}

/** Picks those that count at `now`. @param times - oldest first, on the same clock as `now`. */
export function recent(times: readonly number[], now: number, { windowMs }: AlertRule): readonly number[] {
  return times.filter((at) => now - at < windowMs);
}

/**
 * The failures, or the crashes, that count at `now`, this one included: those within the window, and no more than raise an alert.
 * @param times - of earlier ones, oldest first, on the same clock as `now`.
 */
export function withOneMore(
  cause: AlertCount,
  times: readonly number[],
  now: number,
  rule: AlertRule,
): readonly number[] {
  return [...recent(times, now, rule), now].slice(-rule[cause]);
}

/** Tells whether so many at `now` raise an alert. */
export function raises(cause: AlertCount, times: readonly number[], now: number, rule: AlertRule): boolean {
  return recent(times, now, rule).length >= rule[cause];
}
