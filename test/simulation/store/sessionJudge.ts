import type { SentMessage } from './gatewayNode.ts';
import { messagesIn } from './mailJudge.ts';
import type { Pglite } from './pglite.ts';

/**
 * What a session promises whoever sends to it at any node: what was acknowledged as durable is one message, or that of its key; what was refused for
 * good is none; one that was sent when another had been acknowledged comes behind it; its sender hears once of its end, and of no other one.
 * @param told - the nodes that have heard of every end: nothing waits any more. @returns the first promise that was broken.
 */
export async function judgeSessions(
  database: Pglite,
  sent: readonly SentMessage[],
  told: ReadonlySet<string>,
): Promise<string | undefined> {
  const messages = await messagesIn(database);
  const placed: { readonly each: SentMessage; readonly number: number }[] = [];
  for (const each of sent) {
    const { mark, key, session, ends, answer, node } = each;
    const own = messages.filter((message) => message.mark === mark);
    if (own.length > 1) return `message ${mark} is ${own.length} messages`;
    if (ends.length > 1) return `the sender of ${mark} was told ${ends.length} times of its end`;
    if (answer === undefined) continue;
    const ofKey = messages.filter((message) => key !== undefined && message.session === session && message.key === key);
    if (ofKey.filter(({ state }) => state !== 'mail').length > 1)
      return `key ${key} of ${session} is that of two messages`;
    const message = own[0] ?? ofKey[0];
    if (!answer.accepted) {
      // It may be that of one which was accepted without being kept.
      const isKnown = message !== undefined || sent.some((other) => isVolatile(other, each));
      const wrong = refused(answer.reason, own.length > 0, isKnown);
      if (wrong !== undefined) return `message ${mark} ${wrong}`;
      continue;
    }
    if (answer.durable && message === undefined) return `message ${mark} was acknowledged, and is nowhere`;
    const [end] = ends;
    // Of one that another node has brought to its end no more may be known than that.
    const isOther = end?.ok === true && end.value !== undefined && message !== undefined && end.value !== message.mark;
    if (isOther) return `the sender of ${mark} was told of the end of another: ${JSON.stringify(end)}`;
    if (told.has(node) && ends.length === 0) return `the sender of ${mark} never heard of its end`;
    if (answer.durable && own[0] !== undefined && own[0].state !== 'mail') placed.push({ each, number: own[0].number });
  }
  return disorder(placed);
}

function isVolatile({ session, key, answer }: SentMessage, of: SentMessage): boolean {
  return session === of.session && key === of.key && answer?.accepted === true && !answer.durable;
}

function refused(reason: string, isThere: boolean, isKnown: boolean): string | undefined {
  if (reason === 'duplicate') return isKnown ? undefined : 'is a duplicate of nothing';
  // Of one that is told so the commit may have come through.
  if (reason === 'unavailable') return undefined;
  return isThere ? `was refused as ${reason}, and is there` : undefined;
}

function disorder(placed: readonly { readonly each: SentMessage; readonly number: number }[]): string | undefined {
  for (const { each, number } of placed) {
    const overtaken = placed.find(
      ({ each: earlier, number: later }) =>
        earlier.node === each.node &&
        earlier.session === each.session &&
        (earlier.answeredAt ?? Infinity) < each.sentAt &&
        later > number,
    );
    if (overtaken !== undefined)
      return `message ${each.mark} stands before ${overtaken.each.mark}, acknowledged earlier`;
  }
  return undefined;
}
