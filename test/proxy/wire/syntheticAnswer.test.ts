import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/policy/failures/failure.ts';
import { answerOfFailure } from '../../../proxy/wire/syntheticAnswer.ts';

const failure: Failure = {
  kind: 'crash',
  reason: 'connection_lost',
  message: 'The server was ended by SIGKILL',
  outcome: 'unknown',
  integration: 'kb',
  attempts: 1,
  retryable: false,
};
const call = { id: 0, method: 'tools/call', modern: false, asTask: false };

describe('an answer in place of the server', () => {
  it('[P-3] [G-13] to a call of a tool is a result with one plain sentence, and what is known for programs', () => {
    expect(JSON.parse(answerOfFailure(call, failure, 12.4, ''))).toEqual({
      jsonrpc: '2.0',
      id: 0,
      result: {
        content: [
          {
            type: 'text',
            text: 'The server was ended by SIGKILL: outcome unknown; it may have taken effect, check before repeating; after that it may be tried again.',
          },
        ],
        isError: true,
        _meta: {
          'unwedge/failure': {
            kind: 'crash',
            reason: 'connection_lost',
            outcome: 'unknown',
            elapsedMs: 12,
            attempts: 1,
            retryable: false,
          },
        },
      },
    });
  });

  it('[P-3] to a call of the stateless era is complete', () => {
    const answer = JSON.parse(answerOfFailure({ ...call, modern: true }, failure, 1, '')) as { result: object };
    expect(answer.result).toMatchObject({ resultType: 'complete', isError: true });
  });

  it.each([
    { ...call, method: 'resources/read' },
    { ...call, asTask: true },
  ])('[P-3] to any other request is an error: %j', (request) => {
    expect(JSON.parse(answerOfFailure(request, failure, 1, ''))).toMatchObject({
      id: 0,
      error: { code: -32_603, data: { 'unwedge/failure': { outcome: 'unknown' } } },
    });
  });

  it('[P-3] ends with what the server said last', () => {
    expect(answerOfFailure(call, failure, 1, 'fatal: "x"')).toContain(
      'Last lines of the server on stderr: fatal: \\"x\\"',
    );
  });

  it('[P-3] is one line', () => {
    expect(answerOfFailure(call, { ...failure, message: 'a\nb' }, 1, 'c\nd').match(/\n/g)).toHaveLength(1);
  });
});
