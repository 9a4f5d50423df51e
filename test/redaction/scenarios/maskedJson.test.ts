import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { maxMetadataBytes, maxTextChars } from '../../../src/policy/text/storedJson.ts';
import { createMaskedJson } from '../../../src/redaction/redactFact.ts';
import { KnownSecrets } from '../../../src/redaction/knownSecrets.ts';
import { isSecretName } from '../../../src/redaction/secretNames.ts';
import { redactText } from '../../../src/redaction/secrets.ts';

const redact = createMaskedJson();
const redactValue = (value: unknown): unknown => (JSON.parse(redact({ value })) as { value: unknown }).value;

/** Built from parts, so that scanners of this repository do not take them for real. */
const shapes: readonly (readonly [string, string])[] = [
  ['an Anthropic key', `sk-ant-api03-${'aB3_'.repeat(20)}`],
  ['an OpenAI key', `sk-proj-${'aB3x'.repeat(10)}`],
  ['a Stripe key', `sk_live_${'aB3x'.repeat(6)}`],
  ['a GitHub token', `ghp_${'aB3x'.repeat(9)}`],
  ['a fine-grained GitHub token', `github_pat_${'aB3x'.repeat(9)}`],
  ['a GitLab token', `glpat-${'aB3x'.repeat(5)}`],
  ['a GitLab token of letters alone', `glpat-${'AbCdE'.repeat(4)}`],
  ['a token of Hugging Face, which is letters alone', `hf_${'aBcDeFgHiJkLmNoPq'.repeat(2)}`],
  ['a GitHub token of letters alone', `ghp_${'aBxC'.repeat(9)}`],
  ['a Slack token', `xoxb-1234567890-${'aB3x'.repeat(5)}`],
  ['a Slack app token', `xapp-1-${'A1'.repeat(10)}`],
  ['an AWS key id', `AKIA${'A1B2'.repeat(4)}`],
  ['a Google key', `AIza${'aB3x'.repeat(9)}`],
  ['an npm token', `npm_${'aB3x'.repeat(9)}`],
  ['a Telegram token', `123456789:${'aB3x-'.repeat(7)}`],
  ['a JWT', `eyJ${'aB3x'.repeat(5)}.eyJ${'aB3x'.repeat(9)}.${'aB3x'.repeat(9)}`],
  ['a bearer token', `Bearer ${'abc.'.repeat(6)}x`],
  ['basic credentials', 'Basic dXNlcjpwYXNzd29yZA=='],
];

describe('a text', () => {
  it.each(shapes)('[O-8] loses %s', (_, secret) => {
    expect(redactText(`before ${secret} after`)).toBe('before [redacted] after');
  });

  it('[O-8] loses a private key, whole or cut', () => {
    const key = `-----BEGIN RSA ${'PRIVATE'} KEY-----\nMIIEow\nIBAAKCAQEA\n-----END RSA ${'PRIVATE'} KEY-----`;
    expect(redactText(`a ${key} b`)).toBe('a [redacted] b');
    expect(redactText(`a ${key.slice(0, 60)}`)).toBe('a [redacted]');
  });

  it('[O-8] loses the password of a URL and keeps its host', () => {
    expect(redactText('at postgres://me:hunter2@db.test/x')).toBe('at postgres://me:[redacted]@db.test/x');
  });

  it.each([
    ['api_key=hunter2&q=1', 'api_key=[redacted]&q=1'],
    ['serve --db-password hunter2 --port 80', 'serve --db-password [redacted] --port 80'],
    ['password: hunter2', 'password: [redacted]'],
    ['token:abc', 'token:[redacted]'],
    ['token=abc', 'token=[redacted]'],
    ['--token abc', '--token [redacted]'],
    ['--tokens 12ab', '--tokens [redacted]'],
    ['--token 4096', '--token [redacted]'],
    ['x://a:pw@h', 'x://a:[redacted]@h'],
    ['{"clientSecret":"hunter 2","a":1}', '{"clientSecret":"[redacted]","a":1}'],
    ["{'token': 'hunter2'}", "{'token': '[redacted]'}"],
    ['Authorization: Bearer abcdefgh1', 'Authorization: [redacted]'],
    ['Set-Cookie: sid=hunter2; Path=/', 'Set-Cookie: [redacted]; Path=/'],
  ])('[O-8] loses what is assigned to a secret name: %s', (text, clean) => {
    expect(redactText(text)).toBe(clean);
  });

  it.each([
    'max_tokens: 4096 exceeded',
    'risk-adjusted-performance-evaluation',
    'task-scheduler-with-a-long-name',
    'key-value-of-someCamelCaseName-there',
    'hf_hub_download_with_a_long_name',
    'Unexpected token } in JSON at position 4',
    'Bearer authentication failed',
    'serve --token-file /etc/x --no-token --verbose',
    'ask --max-tokens 4096 --verbose',
    'unwedge budget main --tokens 3M',
    'unwedge budget main --tokens 1.5M/day',
    'No session found with label: main',
    'listening on http://127.0.0.1:8080/path',
  ])('keeps what is no secret: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe('a name', () => {
  it.each([
    'authorization',
    'X-Api-Key',
    'apiKey',
    'accessToken',
    'token',
    'PASSWORD',
    'clientSecret',
    'set-cookie',
    'KB_PASSWD',
  ])('[O-8] tells a secret: %s', (name) => expect(isSecretName(name)).toBe(true));

  it.each(['prompt', 'systemPrompt', 'user_prompt'])('[O-8] tells a prompt: %s', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(['session_key', 'max_tokens', 'inputTokens', 'token_count', 'prompt_hash', 'author', 'path', 'message'])(
    'is none of a secret: %s',
    (name) => expect(isSecretName(name)).toBe(false),
  );
});

describe('metadata', () => {
  it('[O-8] loses values under secret names, of any type', () => {
    expect(redactValue({ token: 'x', password: 123456, cookie: ['a'], secret: { deep: 1 } })).toEqual({
      token: '[redacted]',
      password: '[redacted]',
      cookie: '[redacted]',
      secret: '[redacted]',
    });
  });

  it('still shows that a secret is missing', () => {
    expect(redactValue({ token: null, password: false })).toEqual({ token: null, password: false });
  });

  it('[O-8] keeps the names of an environment, never its values', () => {
    expect(redactValue({ env: { HOME: '/home/me', A: '1' } })).toEqual({
      env: { HOME: '[redacted]', A: '[redacted]' },
    });
  });

  it('[O-8] loses secrets of our own environment wherever they stand', () => {
    const secrets = new KnownSecrets({
      DB_PASSWORD: 'correct horse',
      TOKEN: 'correct horse battery',
      PIN: '1234',
      HOME: '/home/me',
      PWD: '/home/me/work',
    });
    const error = 'with correct horse battery in /home/me/work of /home/me at 1234';
    const json = createMaskedJson(secrets)({ error, 'correct horse': 1 });
    expect(json).toBe('{"error":"with [redacted] in /home/me/work of /home/me at 1234","[redacted]":1}');
  });

  it('[O-8] loses a secret that stands across the end of what is kept', () => {
    const key = `sk-${'a1'.repeat(30)}`;
    const text = `${'x '.repeat(maxTextChars / 2 - 10)}${key}`;
    expect(redactValue(text)).not.toContain('sk-');
  });

  it('[O-8] shows no half of a secret where so much was redacted that the end of the reading comes into view', () => {
    const key = `sk-${'a1'.repeat(500)}`;
    const text = `${`${key} `.repeat(25)}${'y'.repeat(400)} ${'secret-half'.repeat(500)}`;
    expect(redactValue(text)).not.toContain('secret-half');
  });

  it('keeps texts up to 2,000 characters', () => {
    expect(maxTextChars).toBe(2_000);
    expect(redactValue('x'.repeat(maxTextChars))).toBe('x'.repeat(maxTextChars));
    expect(redactValue('x'.repeat(maxTextChars + 1))).toBe(`${'x'.repeat(maxTextChars)}…`);
  });

  it('is never longer than 16 kB, and says so', () => {
    const list = Array.from({ length: 50 }, (_, index) => `${index}${'x'.repeat(1_990)}`);
    const json = redact({ first: 'kept', list });
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxMetadataBytes);
    expect(JSON.parse(json)).toMatchObject({ first: 'kept' });
    expect(json).toContain(' more');
  });

  it('[O-8] looks into no more of the data than it may keep, however much there is', () => {
    let chars = 0;
    const hide = (text: string): string => {
      chars += text.length;
      return text;
    };
    const bounded = createMaskedJson({ version: 0, hide });
    const items = Array.from({ length: 5_000 }, (_, at) => `item ${at} of the list`);
    const said = Array.from({ length: 900 }, (_, at) => ({ said: `${at} ${'word '.repeat(3_500)}` }));
    expect(JSON.parse(bounded({ items, after: 'seen', said }))).toMatchObject({
      items: expect.arrayContaining(['item 99 of the list', '… 4900 more']) as string[],
      after: 'seen',
      said: expect.arrayContaining([{ said: expect.stringMatching(/^0 word/) as string }]) as object[],
    });
    expect(chars).toBeLessThan(250_000);
  });

  it('survives cycles, depth, getters that throw and values JSON does not know', () => {
    const cyclic: Record<string, unknown> = {
      big: 1n,
      nan: Number.NaN,
      fn: () => 1,
      symbol: Symbol('s'),
      none: undefined,
    };
    cyclic['self'] = cyclic;
    Object.defineProperty(cyclic, 'bad', { enumerable: true, get: () => expect.unreachable() });
    expect(redactValue(cyclic)).toEqual({
      big: '1',
      nan: 'NaN',
      fn: '[function]',
      symbol: '[symbol]',
      self: '[circular]',
      bad: '[unreadable]',
    });
    let deep: unknown = 'end';
    for (let depth = 0; depth < 1_000; depth++) deep = { deep };
    expect(JSON.stringify(redactValue(deep))).toContain('[object]');
  });

  it('shows the same object twice where it is no cycle', () => {
    const shared = { a: 1 };
    expect(redactValue([shared, shared])).toEqual([shared, shared]);
  });

  it('shows an error with its message, stack and cause', () => {
    const error = new Error('outer', { cause: new TypeError('inner') });
    expect(redactValue(error)).toMatchObject({
      name: 'Error',
      message: 'outer',
      cause: { name: 'TypeError', message: 'inner' },
    });
    expect(redactValue(error)).toHaveProperty('stack');
  });

  it('shows what is no plain data as what it is', () => {
    const value = [new Date(0), new Date(Number.NaN), new Map([[1, 2]]), new Uint8Array(7)];
    expect(redactValue(value)).toEqual(['1970-01-01T00:00:00.000Z', null, '[1 entries]', '[7 bytes]']);
  });

  it('[O-8] is valid, bounded JSON without the secret, whatever surrounds it', () => {
    const secret = `ghp_${'Zq9'.repeat(12)}`;
    const value = fc.anything({
      values: [fc.string(), fc.constant(secret), fc.string({ unit: 'binary' })],
      maxDepth: 4,
    });
    fc.assert(
      fc.property(value, (given) => {
        const json = redact({ given, text: `at ${secret}` });
        JSON.parse(json);
        expect(json).not.toContain(secret);
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxMetadataBytes);
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});

it('[O-1] keeps times in ms as whole numbers, and other numbers as they are', () => {
  expect(JSON.parse(redact({ elapsed_ms: 943.577, within: { delayMs: 0.4 }, ratio: 0.25 }))).toEqual({
    elapsed_ms: 944,
    within: { delayMs: 0 },
    ratio: 0.25,
  });
});
