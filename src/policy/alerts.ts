import type { AlertCause } from './alertRecord.ts';
import type { FailureKind } from './failure.ts';
import { failureKinds } from './failure.ts';
import { checkDuration, checkInteger, checkKeys, checkObject } from './options.ts';

/** When an alert is raised for an integration, and when it is over. */
export interface AlertThresholds {
  /** Final failures within `windowMs` that raise it, at least 1. @defaultValue 5 */
  readonly failures?: number | undefined;
  /** Crashes within `windowMs` that raise it, at least 1: losses of what is behind the integration, and restarts of it that failed. @defaultValue 5 */
  readonly crashes?: number | undefined;
  /** In ms, above 0. @defaultValue 10 min */
  readonly windowMs?: number | undefined;
  /** Time without a final failure and without a crash after which all is clear, in ms, above 0. @defaultValue 10 min */
  readonly quietMs?: number | undefined;
}

/** Thresholds for every integration, and for single ones by their names; `false` for one that raises none. */
export interface AlertRules extends AlertThresholds {
  readonly integrations?: Readonly<Record<string, AlertThresholds | false>> | undefined;
}

/** Integrations that deliver alerts; none is raised for them, or one that cannot be delivered would raise the next. */
export const deliveryNames = { command: 'alert:command', webhook: 'alert:webhook' } as const;

export type AlertRule = Readonly<Record<keyof AlertThresholds, number>>;

const tenMinutes = 10 * 60_000;

/** O-3: 5 final failures within 10 min, all clear after 10 min without one; the same for crashes. */
export const defaultAlertRule: AlertRule = { failures: 5, crashes: 5, windowMs: tenMinutes, quietMs: tenMinutes };

/** The rule of an integration; undefined for one that raises no alerts. */
export type AlertRuleOf = (integration: string) => AlertRule | undefined;

/** The names of the thresholds, as options. */
export const thresholdNames: readonly (keyof AlertThresholds)[] = ['failures', 'crashes', 'windowMs', 'quietMs'];

/** @throws TypeError or RangeError that names the option and its value. */
export function checkAlertRules(name: string, rules: AlertRules): AlertRuleOf {
  const usual = checkThresholds(name, rules, defaultAlertRule);
  const { integrations = {} } = rules;
  checkObject(`${name}.integrations`, integrations);
  const special = new Map<string, AlertRule | undefined>();
  for (const [integration, thresholds] of Object.entries(integrations)) {
    const path = `${name}.integrations.${integration}`;
    if (thresholds !== false) checkKeys(path, thresholds, thresholdNames);
    special.set(integration, thresholds === false ? undefined : checkThresholds(path, thresholds, usual));
  }
  return (integration) => (special.has(integration) ? special.get(integration) : usual);
}

function checkThresholds(name: string, given: AlertThresholds, base: AlertRule): AlertRule {
  return {
    failures: checkInteger(`${name}.failures`, given.failures ?? base.failures),
    crashes: checkInteger(`${name}.crashes`, given.crashes ?? base.crashes),
    windowMs: checkDuration(`${name}.windowMs`, given.windowMs ?? base.windowMs),
    quietMs: checkDuration(`${name}.quietMs`, given.quietMs ?? base.quietMs),
  };
}

/** Whether a final failure of this kind counts (table 1). */
export function countsForAlerts(kind: FailureKind): boolean {
  return failureKinds[kind].alerts;
}

/** Those that count at `now`. @param times - oldest first, on the same clock as `now`. */
export function recent(times: readonly number[], now: number, { windowMs }: AlertRule): readonly number[] {
  return times.filter((at) => now - at < windowMs);
}

/**
 * The failures, or the crashes, that count at `now`, this one included: those within the window, and no more than raise an alert.
 * @param times - of earlier ones, oldest first, on the same clock as `now`.
 */
export function withOneMore(
  cause: AlertCause,
  times: readonly number[],
  now: number,
  rule: AlertRule,
): readonly number[] {
  return [...recent(times, now, rule), now].slice(-rule[cause]);
}

/** Whether so many at `now` raise an alert. */
export function raises(cause: AlertCause, times: readonly number[], now: number, rule: AlertRule): boolean {
  return recent(times, now, rule).length >= rule[cause];
}
