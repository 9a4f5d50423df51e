import { describe, expect, it, onTestFinished } from 'vitest';
import { checkApiProxy, isElsewhere } from '../../../../proxy/api/settings.ts';
import { faultyModelApi } from '../../../../testing/index.ts';
import { startApiProxy } from '../startApiProxy.ts';

const planted = 'plantedkey-51d0c2b7e6aa4f39';

/** A client that shows its key in every place that an API knows. */
const everywhere = {
  path: `/v1/messages?beta=true&key=${planted}&api_key=${planted}&access_token=${planted}&token=${planted}`,
  headers: {
    'x-api-key': planted,
    'api-key': planted,
    'x-goog-api-key': planted,
    authorization: `Bearer ${planted}`,
    cookie: `session=${planted}`,
    'openai-organization': planted,
    'openai-project': planted,
    'chatgpt-account-id': planted,
    'x-amz-security-token': planted,
    'x-goog-user-project': planted,
    'x-auth-token': planted,
    'helicone-auth': `Bearer ${planted}`,
    'ocp-apim-subscription-key': planted,
    'cf-access-client-secret': planted,
    'idempotency-key': 'kept',
    'anthropic-version': '2023-06-01',
  },
};

async function startPair(options: { readonly fallbackKey?: string; readonly fallbackClientKey?: boolean }) {
  const second = await faultyModelApi([{ text: 'from the second' }]);
  onTestFinished(() => second.close());
  const first = await startApiProxy({
    script: [{ do: 'refuse', status: 529 }],
    policy: { maxAttempts: 1 },
    fallback: second.url,
    ...options,
  });
  return { ...first, second };
}

describe('the key of a client', () => {
  it('[E-7] [O-8] does not go to a fallback that has a key of its own, wherever the client puts it', async () => {
    const { ask, api, second } = await startPair({ fallbackKey: 'key&of the second' });
    expect((await ask(everywhere).got).text).toContain('second');
    expect(JSON.stringify(api.requests)).toContain(planted);
    expect(JSON.stringify(second.requests)).not.toContain(planted);
    expect(second.requests[0]).toMatchObject({
      url: `/v1/messages?beta=true${['key', 'api_key', 'access_token', 'token'].map((name) => `&${name}=key%26of%20the%20second`).join('')}`,
      headers: {
        'x-api-key': 'key&of the second',
        authorization: 'Bearer key&of the second',
        'x-goog-api-key': 'key&of the second',
        'idempotency-key': 'kept',
        'anthropic-version': '2023-06-01',
      },
    });
  });

  it('[E-7] goes to a fallback of another origin only when that is said', async () => {
    const { ask, second } = await startPair({ fallbackClientKey: true });
    expect((await ask(everywhere).got).text).toContain('second');
    expect(second.requests[0]).toMatchObject({ url: everywhere.path, headers: everywhere.headers });
    await expect(startPair({})).rejects.toThrow(/another origin.*`fallbackKey`, or `fallbackClientKey: true`/);
    await expect(startPair({ fallbackKey: 'one', fallbackClientKey: true })).rejects.toThrow('exclude each other');
  });

  it.each([
    ['https://api.example', 'https://api.example/other', false],
    ['https://api.example', 'https://API.example:443/second', false],
    ['https://api.example', 'https://api.example:8443', true],
    ['https://api.example', 'http://api.example', true],
    ['https://api.example', 'https://api.example.test', true],
  ])('[E-7] %s and %s: another origin is %j', (upstream, fallback, elsewhere) => {
    expect(isElsewhere(upstream, fallback)).toBe(elsewhere);
    const isRefused = (): boolean => {
      try {
        checkApiProxy({ upstream, fallback });
        return false;
      } catch (error) {
        return error instanceof RangeError;
      }
    };
    expect(isRefused()).toBe(elsewhere);
  });
});
