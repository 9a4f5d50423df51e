import { commandKeys, commandRule, type SubprocessInput } from '../machines/subprocessInput.ts';
import { alertRuleKeys, type AlertRuleOf, type AlertRules, alertRules } from '../policy/alerts.ts';
import type { Duration } from '../policy/duration.ts';
import { byName, duration, type KeysOf, orOff, section, type Tell, text, type Values } from '../policy/optionKeys.ts';

/** A command that gets each alert, and each all-clear, as a line of JSON on stdin. Never through a shell. */
export interface AlertCommand
  extends Pick<SubprocessInput, 'command' | 'args' | 'cwd' | 'env' | 'envMode' | 'envAllow'> {
  /** Time that it may take, in ms, above 0; then it is ended. @defaultValue 10 s */
  readonly attemptMs?: Duration | undefined;
}

/** Webhook to which each alert, and each all-clear, is sent as JSON with a POST. */
export interface AlertWebhook {
  /** `http:` or `https:`, without user and password. */
  readonly url: string;
  /** Sent with each attempt, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Limit on one attempt, in ms, above 0; there are four. @defaultValue 10 s */
  readonly attemptMs?: Duration | undefined;
}

/** Rules for raising alerts, and where they go beside subscribers. */
export interface AlertOptions extends AlertRules {
  /** Started for each alert and each all-clear. @defaultValue none */
  readonly command?: AlertCommand | undefined;
  /** Asked for each alert and each all-clear. @defaultValue none */
  readonly webhook?: AlertWebhook | undefined;
}

export interface CheckedAlerts {
  readonly ruleOf: AlertRuleOf;
  /** True where success rates are judged, of any integration. */
  readonly byRate: boolean;
  readonly command: CheckedCommand | undefined;
  readonly webhook: CheckedWebhook | undefined;
}

const usualMs = 10_000;

const alertCommandKeys = {
  ...commandKeys,
  attemptMs: duration({ default: usualMs, help: 'How long it may take.' }),
} satisfies KeysOf<AlertCommand>;

const alertWebhookKeys = {
  url: text({
    required: true,
    secret: true,
    form: isHttp,
    expected: 'an http or https address',
    help: 'An `http:` or `https:` address without user and password. Never shown.',
  }),
  headers: byName(text({ empty: true, secret: true }), {
    expected: 'an object of strings',
    default: {},
    help: 'Sent with it, such as `authorization`. Never shown.',
  }),
  attemptMs: duration({ default: usualMs, help: 'Limit on one attempt; there are four.' }),
} satisfies KeysOf<AlertWebhook>;

type CheckedCommand = Values<typeof alertCommandKeys>;
type CheckedWebhook = Values<typeof alertWebhookKeys>;

const alertsKeys = {
  ...alertRuleKeys,
  command: section(
    alertCommandKeys,
    { help: 'A program that gets each alert, and each all-clear, as a line of JSON on stdin; no shell.' },
    commandRule,
  ),
  webhook: section(
    alertWebhookKeys,
    { help: 'Where each alert, and each all-clear, is sent as JSON with a POST.' },
    webhookRule,
  ),
} satisfies KeysOf<AlertOptions>;

/** The option of alerts; `false`: none is raised. */
export const alertsKey = orOff(section(alertsKeys), {
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

function isHttp(url: string): boolean {
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
