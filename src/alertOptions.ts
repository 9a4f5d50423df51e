import { checkSubprocess, type SubprocessInput } from './machines/subprocessInput.ts';
import { type AlertRuleOf, type AlertRules, checkAlertRules, thresholdNames } from './policy/alerts.ts';
import { checkDuration, checkKeys, checkName, checkObject, checkText, show } from './policy/options.ts';

/** A command that gets each alert, and each all-clear, as a line of JSON on stdin. Never through a shell. */
export interface AlertCommand
  extends Pick<SubprocessInput, 'command' | 'args' | 'cwd' | 'env' | 'envMode' | 'envAllow'> {
  /** How long it may take, in ms, above 0; then it is ended. @defaultValue 10 s */
  readonly timeoutMs?: number | undefined;
}

/** Where each alert, and each all-clear, is sent as JSON with a POST. */
export interface AlertWebhook {
  /** `http:` or `https:`, without user and password. */
  readonly url: string;
  /** Sent with each attempt, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Limit on one attempt, in ms, above 0; there are four. @defaultValue 10 s */
  readonly timeoutMs?: number | undefined;
}

/** When alerts are raised, and where they go beside subscribers. */
export interface AlertOptions extends AlertRules {
  readonly command?: AlertCommand | undefined;
  readonly webhook?: AlertWebhook | undefined;
}

export interface CheckedAlerts {
  readonly ruleOf: AlertRuleOf;
  readonly command: AlertCommand | undefined;
  readonly webhook: AlertWebhook | undefined;
}

const commandNames = ['command', 'args', 'cwd', 'env', 'envMode', 'envAllow', 'timeoutMs'];

/** Undefined for `false`. @throws TypeError or RangeError that names the option and its value. */
export function checkAlerts(options: AlertOptions | false = {}): CheckedAlerts | undefined {
  if (options === false) return undefined;
  checkKeys('alerts', options, [...thresholdNames, 'integrations', 'command', 'webhook']);
  const { command, webhook } = options;
  if (command !== undefined) checkCommand(command);
  if (webhook !== undefined) checkWebhook(webhook);
  return { ruleOf: checkAlertRules('alerts', options), command, webhook };
}

function checkCommand(given: AlertCommand): void {
  checkKeys('alerts.command', given, commandNames);
  const { timeoutMs, ...command } = given;
  checkSubprocess(command, 'alerts.command.');
  if (timeoutMs !== undefined) checkDuration('alerts.command.timeoutMs', timeoutMs);
}

function checkWebhook(webhook: AlertWebhook): void {
  checkKeys('alerts.webhook', webhook, ['url', 'headers', 'timeoutMs']);
  const { url, headers = {}, timeoutMs } = webhook;
  const parsed = URL.canParse(checkName('alerts.webhook.url', url)) ? new URL(url) : undefined;
  const { protocol = '', username = '', password = '' } = parsed ?? {};
  // Without the value: a webhook's address is its secret.
  if (!['http:', 'https:'].includes(protocol)) {
    throw new RangeError(`Expected \`alerts.webhook.url\` to be an http or https address, got ${show(protocol)}`);
  }
  // `fetch` refuses one, and gives the whole address as the reason.
  if (username !== '' || password !== '') {
    throw new RangeError('Expected `alerts.webhook.url` to be without user and password, which `headers` can carry');
  }
  checkObject('alerts.webhook.headers', headers);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  if (timeoutMs !== undefined) checkDuration('alerts.webhook.timeoutMs', timeoutMs);
}

/** Now, and without the value: it may be a key, and what `fetch` says of a wrong one repeats it. */
function checkHeader(name: string, value: unknown): void {
  const option = `alerts.webhook.headers.${name}`;
  const text = checkText(option, value);
  try {
    new Headers({ [name]: text });
  } catch {
    throw new RangeError(`Expected \`${option}\` to be a header that can be sent, by its name and its value`);
  }
}
