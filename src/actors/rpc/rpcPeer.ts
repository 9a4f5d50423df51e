import type { Timer } from '../../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../../policy/failure.ts';
import { parseRpc, rpcErrors, type RpcGarbage, type RpcId, type RpcMessage } from '../../protocol/jsonRpc.ts';
import { createLineSplitter } from '../../protocol/lines.ts';
import { cancelled, RpcResponseError, timedOut, unsent, unwritable } from './rpcPeerErrors.ts';
import type { IncomingRequest, RequestEnd, RpcPeer, RpcPeerOptions } from './rpcPeerTypes.ts';

interface Pending {
  readonly id: number;
  readonly method: string;
  settle(how: RequestEnd['how'], result: { readonly value: unknown } | { readonly facts: FailureFacts }): void;
}

/** Longest part of a strange line that is shown, in characters. */
const shownCharacters = 200;

export function createRpcPeer(options: RpcPeerOptions): RpcPeer {
  const { clock, listener, maxInFlight, maxMalformed } = options;
  const pending = new Map<RpcId, Pending>();
  let lastId = 0;
  let malformed = 0;
  let ending = false;
  let closed: FailureFacts | undefined;

  const tell = (callback: () => void): void => {
    try {
      callback();
    } catch (error) {
      listener.threw(error);
    }
  };
  const strange = (what: 'malformed' | 'unknown_answer' | 'partial', text: string): void =>
    tell(() => listener.strange(what, text.slice(0, shownCharacters)));

  const send = (message: object): boolean => {
    if (closed !== undefined) return false;
    const line = JSON.stringify(message);
    if (listener.line !== undefined) tell(() => listener.line?.('sent', line));
    return options.write(`${line}\n`);
  };

  const splitter = createLineSplitter({
    maxBytes: options.maxMessageBytes,
    onLine: (line) => receive(line),
    onTooLong: () => {
      if (closed === undefined) tell(() => listener.tooLarge());
    },
  });

  function receive(line: string): void {
    if (closed !== undefined || (line.length < 100 && line.trim() === '')) return;
    if (listener.line !== undefined) tell(() => listener.line?.('received', line));
    const message = parseRpc(line);
    if (message.kind === 'garbage') garbage(message, line);
    else {
      malformed = 0;
      take(message, line.length);
    }
  }

  function take(message: Exclude<RpcMessage, RpcGarbage>, bytes: number): void {
    switch (message.kind) {
      case 'notification':
        tell(() => listener.notified(message.method, message.params, bytes));
        return;
      case 'request':
        tell(() => listener.asked(incoming(message.id, message.method, message.params)));
        return;
      case 'result':
      case 'error': {
        // A string is never the answer to a number: ids are compared with their type.
        const request = message.id === null ? undefined : pending.get(message.id);
        if (request === undefined) strange('unknown_answer', `id ${String(message.id).slice(0, 50)}`);
        else if (message.kind === 'result') request.settle('answered', { value: message.result });
        else {
          const error = new RpcResponseError(message.error, request.method, request.id);
          request.settle('failed', { facts: options.readError(error) });
        }
      }
    }
  }

  function garbage({ reason, id }: RpcGarbage, line: string): void {
    if (ending) {
      strange('partial', line);
      return;
    }
    malformed++;
    strange('malformed', `${reason}: ${line}`);
    const request = id === null || hasMethod(line) ? undefined : pending.get(id);
    request?.settle('failed', {
      facts: { kind: 'protocol', message: `The answer to ${request.method} cannot be read`, outcome: 'unknown' },
    });
    if (malformed === maxMalformed) tell(() => listener.unhealthy(malformed));
  }

  function incoming(id: RpcId, method: string, params: unknown): IncomingRequest {
    let answered = false;
    const reply = (message: object): boolean => {
      if (answered) return false;
      answered = true;
      return sendAny(id, message);
    };
    return {
      id,
      method,
      params,
      answer: (result) => reply({ id, result: result ?? null }),
      fail: (error) => reply({ id, error }),
    };
  }

  /** What cannot be written as JSON is answered all the same: the other side waits. */
  function sendAny(id: RpcId, message: object): boolean {
    try {
      return send(message);
    } catch {
      return send({ id, error: { code: rpcErrors.internal, message: 'The answer cannot be written as JSON' } });
    }
  }

  function refusal(method: string, signal: AbortSignal | undefined, urgent: boolean): FailureFacts | undefined {
    if (closed !== undefined) return { ...closed, outcome: 'not_started' };
    if (signal?.aborted === true) {
      return { kind: 'cancelled', message: 'Cancelled by the caller', outcome: 'not_started', cause: signal.reason };
    }
    if (urgent) return undefined;
    if (malformed >= maxMalformed) {
      const message = `${method} was not sent: the last ${malformed} lines of the other side are no messages`;
      return { kind: 'unavailable', message, outcome: 'not_started' };
    }
    if (pending.size < maxInFlight) return undefined;
    const message = `${method} was not sent: ${maxInFlight} requests wait for their answers`;
    return { kind: 'too_many_requests', message, outcome: 'not_started' };
  }

  return {
    push: (chunk) => splitter.push(chunk),
    end() {
      ending = true;
      splitter.end();
    },
    request(method, params, { limitMs, signal, urgent = false } = {}) {
      return new Promise((resolve, reject) => {
        const refused = refusal(method, signal, urgent);
        if (refused !== undefined) {
          reject(new AttemptError(refused));
          return;
        }
        const id = ++lastId;
        const startedAt = clock.now();
        let timer: Timer | undefined;
        const request: Pending = {
          id,
          method,
          settle(how, result) {
            if (!pending.delete(id)) return;
            clock.clearTimeout(timer);
            signal?.removeEventListener('abort', giveUp);
            const facts = 'facts' in result ? result.facts : undefined;
            tell(() => listener.ended?.({ id, method, elapsedMs: clock.now() - startedAt, how, limitMs, facts }));
            if ('facts' in result) reject(new AttemptError(result.facts));
            else resolve(result.value);
          },
        };
        const giveUp = (): void => request.settle('given_up', { facts: cancelled(method, signal?.reason) });
        pending.set(id, request);
        if (limitMs !== undefined) {
          // An answer that was in the pipe while the event loop was blocked is read in the turn after the late timer.
          const expire = (): void => request.settle('timeout', { facts: timedOut(method, limitMs) });
          timer = clock.setTimeout(() => clock.nextTurn(expire), limitMs, { running: true });
        }
        signal?.addEventListener('abort', giveUp, { once: true });
        tell(() => listener.requested?.(id, method, params));
        try {
          if (!send({ id, method, params })) request.settle('lost', { facts: unsent(method) });
        } catch (error) {
          request.settle('failed', { facts: unwritable(method, error) });
        }
      });
    },
    notify: (method) => send({ method }),
    close(facts) {
      if (closed !== undefined) return;
      closed = facts;
      for (const request of [...pending.values()]) request.settle('lost', { facts });
    },
    get inFlight() {
      return pending.size;
    },
    get healthy() {
      return closed === undefined && malformed < maxMalformed;
    },
  };
}

/** A call that cannot be read is no answer, whatever its id. */
function hasMethod(line: string): boolean {
  try {
    return 'method' in (JSON.parse(line) as object);
  } catch {
    return true;
  }
}
