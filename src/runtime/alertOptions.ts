import { commandKeys, type CommandOptions, commandRule } from '../machines/subprocessInput.ts';
import { alertRuleKeys, type AlertRuleOf, type AlertRules, alertRules } from '../policy/alerts.ts';
import {
  byName,
  duration,
  type Given,
  orOff,
  section,
  type Tell,
  text,
  type Values,
} from '../policy/options/optionKeys.ts';

export interface CheckedAlerts {
  readonly ruleOf: AlertRuleOf;
  /** True where success rates are judged, of any integration. */
  readonly byRate: boolean;
  readonly command: CheckedCommand | undefined;
  readonly webhook: CheckedWebhook | undefined;
}

const usualMs = 10_000;

const ownAlertCommandKeys = {
  /** Time that it may take, in ms, above 0; then it is ended. @defaultValue 10 s */
  attemptMs: duration({ default: usualMs, help: 'How long it may take.' }),
};

const alertCommandKeys = { ...commandKeys, ...ownAlertCommandKeys };

/** A command that gets each alert and each all-clear, or each question to a person, as a line of JSON on stdin. Never through a shell. */
export interface AlertCommand extends CommandOptions, Given<typeof ownAlertCommandKeys> {}

const alertWebhookKeys = {
  /** `http:` or `https:`, without user and password. */
  url: text({
    required: true,
    secret: true,
    form: isHttp,
    expected: 'an http or https address',
    help: 'An `http:` or `https:` address without user and password. Never shown.',
  }),
  /** Sent with each attempt, such as `authorization`. */
  headers: byName(text({ empty: true, secret: true }), {
    expected: 'an object of strings',
    default: {},
    help: 'Sent with it, such as `authorization`. Never shown.',
  }),
  /** Limit on one attempt, in ms, above 0; there are four. @defaultValue 10 s */
  attemptMs: duration({ default: usualMs, help: 'Limit on one attempt; there are four.' }),
};

/** Webhook to which each alert and each all-clear, or each question to a person, is sent as JSON with a POST. */
export interface AlertWebhook extends Given<typeof alertWebhookKeys> {}

type CheckedCommand = Values<typeof alertCommandKeys>;
type CheckedWebhook = Values<typeof alertWebhookKeys>;

/** Keys of a command and a webhook that are told something. @param what - each of what. */
export const deliveryKeys = (what: string) => ({
  /** Started for each of them. @defaultValue none */
  command: section(
    alertCommandKeys,
    { given: {} as AlertCommand, help: `A program that gets each ${what} as a line of JSON on stdin; no shell.` },
    commandRule,
  ),
  /** Asked for each of them. @defaultValue none */
  webhook: section(
    alertWebhookKeys,
    { given: {} as AlertWebhook, help: `Where each ${what} is sent as JSON with a POST.` },
    webhookRule,
  ),
});

const ownAlertsKeys = deliveryKeys('alert, and each all-clear,');

const alertsKeys = { ...alertRuleKeys, ...ownAlertsKeys };

/** Rules for raising alerts, and where they go beside subscribers. */
export interface AlertOptions extends AlertRules, Given<typeof ownAlertsKeys> {}

/** The option of alerts; `false`: none is raised. */
export const alertsKey = orOff(section(alertsKeys, { given: {} as AlertOptions }), {
  default: {},
  help: 'When alerts are raised, and where they go beside subscribers; `false`: never.',
});

/** The alerts that were read. */
export function alertsFrom(read: Values<typeof alertsKeys> | false): CheckedAlerts | undefined {
  if (read === false) return undefined;
  const rules = [read, ...Object.values(read.integrations ?? {})];
  const byRate = rules.some((rule) => rule !== false && (rule.successBelow ?? 0) > 0);
  return { ruleOf: alertRules(read), byRate, command: read.command, webhook: read.webhook };
}

function webhookRule({ url, headers }: CheckedWebhook, tell: Tell): void {
  const { username, password } = new URL(url);
  // `fetch` refuses one, and gives the whole address as the reason.
  if (username !== '' || password !== '') {
    tell('url', { says: 'to be without user and password, which `headers` can carry' });
  }
  for (const [name, value] of Object.entries(headers).filter(([name, value]) => !canBeSent(name, value))) {
    tell(['headers', name], { says: 'to be a header that can be sent, by its name and its value', value });
  }
}

export function isHttp(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}

/** Asked now: what `fetch` says of a wrong header repeats its value, which may be a key. */
function canBeSent(name: string, value: string): boolean {
  try {
    new Headers({ [name]: value });
    return true;
  } catch {
    return false;
  }
}
