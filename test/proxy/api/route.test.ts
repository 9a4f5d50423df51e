import { joinPath } from '../../../proxy/api/upstream.ts';
import { describe, expect, it } from 'vitest';
import { clientOf } from '../../../proxy/api/clients.ts';
import { routeOf } from '../../../proxy/api/route.ts';
import { askedModel } from '../../../proxy/api/requestBody.ts';

describe('the path of a request below that of the upstream', () => {
  it.each([
    ['/', '/v1/messages?beta=true', '/v1/messages?beta=true'],
    ['/v1', '/v1/responses', '/v1/responses'],
    ['/base/v1/', '/v1/chat/completions', '/base/v1/chat/completions'],
    ['/base/v1', '/v1?a=1', '/base/v1?a=1'],
    ['/base/v1', '/responses', '/base/v1/responses'],
    ['/base/v1', '/v10/responses', '/base/v1/v10/responses'],
    ['/v1beta', '/v1beta/models', '/v1beta/models'],
    ['/v1', '/v2/rerank', '/v1/v2/rerank'],
    ['/gateway', '/gateway/x', '/gateway/gateway/x'],
  ])('[E-7] %j and %j: %j', (base, url, expected) => {
    expect(joinPath(base, url)).toBe(expected);
  });
});

describe('what a request asks for', () => {
  it.each([
    ['POST', '/v1/messages?beta=true', 'messages', 'idempotent'],
    ['POST', '/any/prefix/v1/messages', 'messages', 'idempotent'],
    ['POST', '/v1/responses', 'responses', 'idempotent'],
    ['POST', '/openai/deployments/x/chat/completions?api-version=1', 'chat', 'idempotent'],
    ['POST', '/v1/messages/count_tokens', undefined, 'idempotent'],
    ['POST', '/v1/embeddings', undefined, 'idempotent'],
    ['POST', '/v1beta/models/g:streamGenerateContent?alt=sse', 'gemini', 'idempotent'],
    ['POST', '/v1beta/models/g:generateContent', undefined, 'idempotent'],
    ['POST', '/v1/threads/thread_1/messages', undefined, 'mutating'],
    ['POST', '/v1/messages/batches', undefined, 'mutating'],
    ['POST', '/v1/files', undefined, 'mutating'],
    ['GET', '/v1/models', undefined, 'readOnly'],
    ['HEAD', '/api/hello', undefined, 'readOnly'],
    ['DELETE', '/v1/files/1', undefined, 'idempotent'],
  ])('[E-7] %s %s is %s, %s', (method, url, dialect, effect) => {
    expect(routeOf(method, url)).toMatchObject({ dialect, effect });
  });

  it.each([
    ['claude-cli/2.1.330 (external, sdk-cli)', 'claude'],
    ['codex_exec/0.169.0 (Debian 12)', 'codex'],
    ['Anthropic/JS 1.12.0', 'anthropic'],
    ['opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14', 'opencode'],
    ['GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux; x64; terminal)', 'gemini'],
    ['ai/7.0.173 ai-sdk/openai/4.0.118 runtime/node.js/24', 'sdk'],
    [undefined, 'sdk'],
  ])('[E-7] %s is %s', (agent, client) => {
    expect(clientOf({ 'user-agent': agent })).toBe(client);
  });

  it.each([
    ['{"model":"claude-opus-5","stream":true}', { model: 'claude-opus-5', streams: true, choices: 1 }],
    [
      '{ "stream": true, "messages": ["\\"model\\":\\"wrong\\""], "model": "gpt-5.2" }',
      { model: 'gpt-5.2', streams: true, choices: 1 },
    ],
    ['{"messages":[{"model":"inner"}]}', { model: undefined, streams: false, choices: 1 }],
    ['{"model":"../../etc\\u0000"}', { model: undefined, streams: false, choices: 1 }],
    ['{"messages":["\\"stream\\":true"],"model":"m"}', { model: 'm', streams: false, choices: 1 }],
    ['{"model":"m","n":3,"stream":true}', { model: 'm', streams: true, choices: 3 }],
    ['{"model":"m","generationConfig":{"candidateCount": 2}}', { model: 'm', streams: false, choices: 2 }],
    // It looks like JSON as far as its first key.
    ['{"\\,', { model: undefined, streams: false, choices: 1 }],
    ['no JSON', { model: undefined, streams: false, choices: 1 }],
    ['', { model: undefined, streams: false, choices: 1 }],
  ])('[E-7] of a body it is read %j', (body, expected) => {
    expect(askedModel({ kind: 'whole', bytes: Buffer.from(body) })).toEqual(expected);
  });
});
