import type { CallPath } from '../calls/callPath.ts';
import { CallableIntegration } from '../calls/integration.ts';
import type { AttemptContext } from '../calls/operation.ts';
import { superviseSubprocess } from '../integrations/subprocess/subprocess.ts';
import type { SubprocessOptions } from '../integrations/subprocess/subprocessOptions.ts';
import type { Outcome } from '../policy/failures/failure.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import type { CheckedAlerts } from '../runtime/alertOptions.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { superviseIntegration } from '../runtime/superviseIntegration.ts';
import { KeptConnections } from '../streams/keptConnections.ts';
import { ownDispatcher } from '../streams/ownDispatcher.ts';
import { dropBody } from '../streams/readBody.ts';
import type { AlertTarget } from './undelivered.ts';

type Delivering = Pick<CheckedAlerts, 'command' | 'webhook'>;

/** From SIGTERM to SIGKILL: a proxy whose client leaves has 2 s before the client ends it. */
const graceMs = 1000;
/** News that may wait for those before them. */
const queueLength = 100;

/** Sends news, with a line for people that chats show of a webhook. Never rejects. @param label - names it in its call. */
type Send<News> = (news: News & { readonly text: string }, label: string) => Promise<Outcome<unknown>>;

/** A command and a webhook that are told news, each behind an integration of its own: with limits, a breaker and records. */
export function superviseDelivery<News extends object>(
  runtime: Runtime,
  { command, webhook }: Delivering,
  names: Readonly<Record<AlertTarget, string>>,
): ReadonlyMap<AlertTarget, Send<News>> {
  const senders = new Map<AlertTarget, Send<News>>();
  if (command !== undefined) {
    const run = new CallableIntegration(commandPath(runtime, names.command, command));
    senders.set('command', (news, label) => run.call({ stdin: `${JSON.stringify(news)}\n` }, { label }));
  }
  if (webhook !== undefined) {
    const post = new CallableIntegration(webhookPath(runtime, names.webhook, webhook), 'idempotent');
    senders.set('webhook', (news, label) => post.call(news, { label }));
  }
  return senders;
}

/** What others have said, for a line in a chat: it mentions nobody there and hides no link. */
export const forChat = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('@', '＠');

/** Runs them one at a time and each once, in their order: the work a command has begun cannot be known. */
function commandPath(runtime: Runtime, name: string, { attemptMs, ...command }: NonNullable<Delivering['command']>) {
  const policy: PolicyInput = { ...policyOf(attemptMs), retry: { maxAttempts: 1 }, maxInFlight: 1 };
  const options: SubprocessOptions = { ...command, agent: 'none', graceMs, policy };
  return superviseSubprocess(runtime, name, options, { serves: true, outlasts: true });
}

function webhookPath(
  runtime: Runtime,
  name: string,
  webhook: NonNullable<Delivering['webhook']>,
): CallPath<object, void> {
  const { url, headers, attemptMs } = webhook;
  runtime.secrets.learn(headers);
  const kept = new KeptConnections();
  return superviseIntegration<object, void>(runtime, {
    name,
    about: { type: 'alert' },
    serves: true,
    outlasts: true,
    onStop: () => kept.close(),
    policy: runtime.policies.policyOf(name, policyOf(attemptMs), 'sdk'),
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
