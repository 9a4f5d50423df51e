import { sanitize } from '../policy/text/sanitize.ts';
import type { CheckedNotice } from '../runtime/inbox.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { forChat, superviseDelivery } from './delivery.ts';

const names = { command: 'inbox:command', webhook: 'inbox:webhook' } as const;

/**
 * Tells a command and a webhook of each new question of the inbox, with a link that shows and answers it where a `baseUrl` is given. What does not arrive is a
 * failed call, on record.
 */
export function tellQuestions(runtime: Runtime, { command, webhook, baseUrl }: CheckedNotice): void {
  const senders = superviseDelivery<Readonly<Record<string, unknown>>>(runtime, { command, webhook }, names);
  // Not awaited by the bus: neither the signature nor a delivery rejects.
  runtime.bus.on('question.asked', async (fact) => {
    const { question, asker, what, deadlineAt } = fact;
    const signed = baseUrl === undefined ? undefined : await runtime.store()?.questions.sign(question);
    const link = signed && `${baseUrl?.replace(/\/+$/, '')}/inbox/${question}/${signed}`;
    const until = new Date(deadlineAt).toISOString().replace(/\.\d+Z$/, 'Z');
    const said = `${forChat(sanitize(`${asker} asks a person until ${until}: ${what}`))}; answer: `;
    const text = said + (link ?? `unwedge inbox answer ${question.slice(0, 8)}`);
    for (const send of senders.values()) void send({ ...fact, link, text }, question);
  });
}
