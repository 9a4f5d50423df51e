import type { CheckedAlerts } from '../runtime/alertOptions.ts';
import type { AttemptContext } from '../calls/operation.ts';
import type { CallPath } from '../calls/callPath.ts';
import { CallableIntegration } from '../calls/integration.ts';
import { type AlertNews, alertText } from '../policy/alertText.ts';
import { deliveryNames } from '../policy/alerts.ts';
import type { FactOf, Told } from '../policy/facts.ts';
import type { Outcome } from '../policy/failure.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { superviseSubprocess } from '../integrations/subprocess/subprocess.ts';
import type { SubprocessOptions } from '../integrations/subprocess/subprocessOptions.ts';
import type { AlertTarget } from './undelivered.ts';
import { superviseIntegration } from '../runtime/superviseIntegration.ts';
import { KeptConnections } from '../streams/keptConnections.ts';
import { ownDispatcher } from '../streams/ownDispatcher.ts';
import { dropBody } from '../streams/readBody.ts';

/** A fact that is delivered, with a line for people: what chats show of a webhook. */
type Delivered = Told<AlertNews> & { readonly text: string };

/** From SIGTERM to SIGKILL: a proxy whose client leaves has 2 s before the client ends it. */
const graceMs = 1000;
/** Alerts that may wait for those before them. */
const queueLength = 100;

/**
 * Sends alerts and all-clears to a command and a webhook, each behind an integration of its own: with limits, a breaker and records.
 * What does not arrive is told as `alert.undelivered`.
 */
export function superviseDelivery(runtime: Runtime, { command, webhook }: Pick<CheckedAlerts, 'command' | 'webhook'>) {
  const senders = new Map<AlertTarget, (news: Told<AlertNews>) => Promise<boolean>>();
  const byCommand = command === undefined ? undefined : commandPath(runtime, command);
  const byWebhook = webhook === undefined ? undefined : webhookPath(runtime, webhook);
  if (byCommand !== undefined) {
    const run = new CallableIntegration(byCommand);
    deliver('command', (news) => run.call({ stdin: `${JSON.stringify(news)}\n` }, { label: news.alert }));
  }
  if (byWebhook !== undefined) {
    const post = new CallableIntegration(byWebhook, 'idempotent');
    deliver('webhook', (news) => post.call(news, { label: news.alert }));
  }

  return {
    /** Sends an alert that an earlier run could not, where it still goes. Never rejects. */
    async again(news: Told<FactOf<'alert.raised'>>, to: AlertTarget): Promise<void> {
      if ((await senders.get(to)?.(news)) !== true) return;
      const { alert, integration } = news;
      runtime.bus.tell({ type: 'alert.delivered_late', alert, integration, to });
    },
  };

  function deliver(to: AlertTarget, send: (news: Delivered) => Promise<Outcome<unknown>>): void {
    const hear = async (news: Told<AlertNews>): Promise<boolean> => {
      const outcome = await send({ ...news, text: chatText(news) });
      if (outcome.ok) return true;
      const { alert, integration } = news;
      runtime.bus.tell({ type: 'alert.undelivered', alert, integration, to, error: outcome.failure.message });
      return false;
    };
    senders.set(to, hear);
    // Not awaited by the bus: a delivery never rejects.
    runtime.bus.on('alert.raised', (news) => void hear(news));
    runtime.bus.on('alert.cleared', (news) => void hear(news));
  }
}

/** The line of an alert, in which what others have said mentions nobody in a chat and hides no link. */
function chatText(news: AlertNews): string {
  if (news.type === 'alert.cleared') return alertText(news);
  const message = news.message.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('@', '＠');
  return alertText({ ...news, message });
}

/** Runs them one at a time and each once, in their order: the work a command has begun cannot be known. */
function commandPath(runtime: Runtime, { attemptMs, ...command }: NonNullable<CheckedAlerts['command']>) {
  const policy: PolicyInput = { ...policyOf(attemptMs), retry: { maxAttempts: 1 }, maxInFlight: 1 };
  const options: SubprocessOptions = { ...command, agent: 'none', graceMs, policy };
  return superviseSubprocess(runtime, deliveryNames.command, options, { serves: true, outlasts: true });
}

function webhookPath(runtime: Runtime, webhook: NonNullable<CheckedAlerts['webhook']>): CallPath<Delivered, void> {
  const { url, headers, attemptMs } = webhook;
  runtime.secrets.learn(headers);
  const kept = new KeptConnections();
  return superviseIntegration<Delivered, void>(runtime, {
    name: deliveryNames.webhook,
    about: { type: 'alert' },
    serves: true,
    outlasts: true,
    onStop: () => kept.close(),
    policy: runtime.policies.policyOf(deliveryNames.webhook, policyOf(attemptMs), 'sdk'),
    async operation(news, { signal }: AttemptContext) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(news),
        // Followed, it would be asked for without its body, or its headers given to somebody else.
        redirect: 'manual',
        signal,
        ...ownDispatcher(kept),
      });
      dropBody(response);
      if (response.ok) return;
      const { status, statusText } = response;
      const hint =
        status >= 300 && status < 400 ? ': redirects are not followed, name the address that it leads to' : '';
      const message = `${`HTTP ${status} ${statusText}`.trimEnd()}${hint}`;
      throw Object.assign(new Error(message), { status, headers: response.headers });
    },
  });
}

/** Waiting behind others counts towards the last limit alone. */
function policyOf(attemptMs: number): PolicyInput {
  return { limits: { idleMs: attemptMs, attemptMs, overallMs: 10 * attemptMs }, queueLength };
}
