import { KnownSecrets, type Variables } from './knownSecrets.ts';
import { RequestEchoes } from './requestEchoes.ts';
import { createFactRedactor, type FactRedactor } from './redactFact.ts';

/**
 * Takes out of texts and errors what a request was sent with: authorizations, keys and cookies of its headers, keys in the query of its
 * address, the texts of its body; and what looks like a secret, whoever said it. A server may repeat what it was sent, and a client tells the whole address.
 */
export function redactorOf(
  address: string | undefined,
  headers: Iterable<readonly [string, string]> = [],
  body?: unknown,
): FactRedactor {
  const secrets = new KnownSecrets();
  for (const variables of variablesOf(address, headers)) secrets.learn(variables);
  secrets.learnValues(ownHeaderValues(headers));
  const echoes = new RequestEchoes(body);
  return createFactRedactor({ version: secrets.version, hide: (text) => echoes.hide(secrets.hide(text)) });
}

/** Headers that say how a request is meant, and of which version: what they hold is in every text about it. */
const usual =
  /^(?:accept(?:-.*)?|content-.*|user-agent|host|origin|referer|date|range|if-.*|cache-control|pragma|prefer|expect|connection|traceparent|tracestate|baggage|x-request-id|x-correlation-id|idempotency-key|.*-version|.*-beta)$/i;

/** The values of headers of any other name: whoever gives a credential may call it what they like. */
export function ownHeaderValues(headers: Iterable<readonly [string, string]>): readonly string[] {
  return [...headers].flatMap(([name, value]) => {
    if (usual.test(name)) return [];
    // `Scheme credentials`: a server may repeat the second alone.
    const credentials = /^[A-Za-z][\w-]{0,30} +(\S+)$/.exec(value)?.[1];
    return credentials === undefined ? [value] : [value, credentials];
  });
}

/** Yields what of a request may be secret, as names and values: `KnownSecrets` tells which is. */
export function* variablesOf(
  address: string | undefined,
  headers: Iterable<readonly [string, string]>,
): Generator<Variables> {
  for (const [name, value] of headers) {
    yield { [name]: value };
    // Each is a secret by itself.
    if (/^cookie$/i.test(name)) {
      for (const cookie of value.split(';')) yield { [name]: cookie.slice(cookie.indexOf('=') + 1).trim() };
    }
  }
  if (address === undefined || !URL.canParse(address)) return;
  for (const [name, value] of new URL(address).searchParams) yield { [name]: value };
}
