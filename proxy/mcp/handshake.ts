import { AttemptError, type FailureFacts, messageOf } from '../../src/policy/failures/face.ts';
import { type McpParams, changedMethod, subscriptionField } from '../../src/protocol/mcp/face.ts';
import { pageOf } from '../wire/listRecord.ts';
import type { SessionRecord } from '../wire/sessionRecord.ts';
import { notificationLine } from '../../src/protocol/face.ts';
import type { Wire } from './wire.ts';

/** Result of greeting a new server. */
export interface ReplayedHandshake {
  readonly era: 'legacy' | 'modern';
  /** Names of the fields that it says of itself otherwise than the client was told. */
  readonly differences: readonly string[];
  /** Requests that put it into the state of the old one. */
  readonly restored: number;
  /** Description that it gave of itself; undefined where it refused, which only one of the stateless era may. */
  readonly result: McpParams | undefined;
  readonly refusal?: string | undefined;
}

/**
 * Brings a new server to where the old one was: the handshake, the log level, the subscriptions. Undefined without a handshake to replay:
 * then the client's own messages are the first that the server gets.
 * @param refused - told what the server did not take over.
 * @returns rejects with an {@link AttemptError} when the server refuses the handshake or is lost.
 */
export function replayHandshake(
  wire: Wire,
  record: SessionRecord,
  refused: (method: string, message: string) => void,
): Promise<ReplayedHandshake> | undefined {
  const { greeting } = record;
  switch (greeting.era) {
    case 'unknown':
      return undefined;
    case 'modern':
      return discover(wire, greeting.discover.params);
    case 'legacy':
      return shakeHands(wire, record, greeting.initialize.params, refused);
  }
}

/** There is no state to bring back; that it answers is all there is to know. */
async function discover(wire: Wire, params: Readonly<Record<string, unknown>>): Promise<ReplayedHandshake> {
  const plain = { era: 'modern', differences: [], restored: 0 } as const;
  try {
    return { ...plain, result: await wire.request('server/discover', params) };
  } catch (error) {
    // A refusal is an answer.
    if (!(error instanceof AttemptError) || error.facts.outcome !== 'failed') throw error;
    return { ...plain, result: undefined, refusal: error.facts.message };
  }
}

async function shakeHands(
  wire: Wire,
  record: SessionRecord,
  params: Readonly<Record<string, unknown>>,
  refused: (method: string, message: string) => void,
): Promise<ReplayedHandshake> {
  const result = await wire.request('initialize', params);
  const isFirst = record.handshake === undefined;
  const differences = record.differences(result);
  if (isFirst) {
    record.answered({ method: 'initialize', params }, result);
    record.noteInitialized();
  }
  if (record.initialized) wire.write(notificationLine('notifications/initialized'));
  const restoring = record.restoring();
  for (const { method, params: restored } of restoring) {
    wire.request(method, restored).catch((error: unknown) => refused(method, messageOf(error)));
  }
  return { era: 'legacy', differences, restored: restoring.length, result };
}

/** Asks the server for a sign of life. A refusal is an answer. @returns rejects with an {@link AttemptError} when it is lost. */
export async function askForLife(wire: Wire, { lifeSign }: SessionRecord): Promise<void> {
  try {
    await wire.request(lifeSign.method, lifeSign.params);
  } catch (error) {
    if (!(error instanceof AttemptError) || !isAnswer(error.facts)) throw error;
  }
}

/** Tells whether somebody is there who said no: in the protocol, or by a status. A server that says so of its session is another one now. */
function isAnswer({ outcome, reason, status }: FailureFacts): boolean {
  return outcome === 'failed' || (status !== undefined && reason !== 'connection_closed');
}

/**
 * Asks a new server for the lists the client has seen.
 * @returns the methods of those that differ. Never rejects: a server that is lost meanwhile is asked anew when it is back.
 */
export async function changedLists(wire: Wire, record: SessionRecord): Promise<readonly string[]> {
  const changed: string[] = [];
  try {
    for (const method of record.lists.methods) if (await hasChanged(wire, record, method)) changed.push(method);
  } catch {
    // Lost: what it has not told is compared with the next one.
  }
  return changed;
}

/**
 * All pages of a list, so many at most; undefined when the server does not have it.
 * @returns rejects with an {@link AttemptError} when the server is lost.
 */
export async function listPages(
  wire: Wire,
  record: SessionRecord,
  method: string,
): Promise<readonly McpParams[] | undefined> {
  const pages: McpParams[] = [];
  for await (const page of pagesOf(wire, record, method, mostPages)) {
    if (page === undefined) return undefined;
    pages.push(page);
  }
  return pages;
}

const mostPages = 100;

/** The notifications that tell a client of them, each once. */
export function changeNotifications(methods: readonly string[]): readonly string[] {
  return [...new Set(methods.flatMap((method) => changedMethod(method) ?? []))];
}

/** The notification for one who listens. */
export function changeLine({ id, method }: { readonly id: number | string; readonly method: string }): string {
  return notificationLine(changedMethod(method) ?? '', { _meta: { [subscriptionField]: id } });
}

async function hasChanged(wire: Wire, record: SessionRecord, method: string): Promise<boolean> {
  const seen = record.lists.pages(method).values();
  for await (const page of pagesOf(wire, record, method, record.lists.pages(method).length)) {
    const { digest, next } = seen.next().value ?? {};
    const now = page === undefined ? undefined : pageOf(method, page);
    if (now === undefined || now.digest !== digest || (now.next === undefined) !== (next === undefined)) return true;
  }
  return false;
}

/** Asks for a list page by page; gives undefined, and no more, when the server does not have it. */
async function* pagesOf(
  wire: Wire,
  record: SessionRecord,
  method: string,
  most: number,
): AsyncGenerator<McpParams | undefined> {
  let cursor: string | undefined;
  for (let count = 0; count < most; count++) {
    const page = await resultAt(wire, record, method, cursor);
    yield page;
    cursor = page === undefined ? undefined : pageOf(method, page).next;
    if (cursor === undefined) return;
  }
}

async function resultAt(
  wire: Wire,
  record: SessionRecord,
  method: string,
  cursor: string | undefined,
): Promise<McpParams | undefined> {
  const place = cursor === undefined ? {} : { cursor };
  try {
    const result = await wire.request(method, { ...record.requestParams, ...place });
    if (method === 'tools/list') record.tools.learn(place, result);
    return result;
  } catch (error) {
    if (error instanceof AttemptError && error.facts.outcome === 'failed') return undefined;
    throw error;
  }
}
