import { describe, expect, it } from 'vitest';
import { checkHttpOptions, type HttpOptions } from '../../../src/integrations/http/httpOptions.ts';
import { effectOfRequest, type HttpRequest, prepareRequest } from '../../../src/integrations/http/httpRequest.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';

const prepared = (request: HttpRequest, options: Partial<HttpOptions> = {}) =>
  prepareRequest('api', request, checkHttpOptions('api', { baseUrl: 'https://api.example/v1', ...options }));
const urlOf = (request: HttpRequest, baseUrl: string): string => prepared(request, { baseUrl }).url.href;

function refusalOf(request: unknown): string {
  try {
    prepared(request as HttpRequest);
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    const { kind, outcome, message } = error.facts;
    return `${kind}, ${outcome}: ${message}`.replace(/^permanent, not_started: /, '');
  }
  throw new Error('it was accepted');
}

describe('the address of a request', () => {
  it.each([
    ['https://api.example', 'models', 'https://api.example/models'],
    ['https://api.example', '', 'https://api.example/'],
    ['https://api.example/v1', '/models', 'https://api.example/v1/models'],
    ['https://api.example/v1/', 'models/', 'https://api.example/v1/models/'],
    ['https://api.example/v1', '', 'https://api.example/v1'],
    ['https://api.example/v1', 'models/x:predict', 'https://api.example/v1/models/x:predict'],
    ['https://api.example/v1', '//other.example/x', 'https://api.example/v1//other.example/x'],
    ['https://api.example/v1', 'a b#c', 'https://api.example/v1/a%20b'],
    ['https://api.example/v1?version=1', 'a?b=2', 'https://api.example/v1/a?version=1&b=2'],
    ['https://api.example/v1?version=1', 'a?version=2', 'https://api.example/v1/a?version=2'],
  ])('[R-14] below %s with the path %j is %s', (baseUrl, path, url) => {
    expect(urlOf({ path }, baseUrl)).toBe(url);
  });

  it.each(['../v2/models', 'a/../../v2', '%2e%2e/v2', '..\\v2', '../v1x'])('[R-14] stays below: not %j', (path) => {
    expect(refusalOf({ path })).toBe('Expected `path` to stay below `baseUrl`');
  });

  it('[R-14] is no address of its own', () => {
    expect(refusalOf({ path: 'https://other.example/' })).toMatch(/^Expected `path` to be a path below `baseUrl`/);
  });

  it('[R-14] merges queries: the request wins over the path, the path over the base', () => {
    const url = urlOf(
      { path: 'a?b=2&c=3', query: { c: 4, d: ['x', true], e: undefined } },
      'https://api.example?a=1&b=0',
    );
    expect(url).toBe('https://api.example/a?a=1&b=2&c=4&d=x&d=true');
  });
});

describe('the headers of a request', () => {
  it('[R-14] are those of the integration, but for those of its own', () => {
    const headers = { Authorization: 'Bearer a', 'x-a': '1', 'x-b': '2' };
    const request = prepared({ path: '', headers: { authorization: 'Bearer b', 'X-A': undefined } }, { headers });
    expect([...request.headers]).toEqual([
      ['authorization', 'Bearer b'],
      ['x-b', '2'],
    ]);
  });

  it('[O-8] that cannot be sent are refused without being shown', () => {
    const message = refusalOf({ path: '', headers: { 'x-key': 'secret\nsecret' } });
    expect(message).toMatch(/^Expected `headers.x-key` to be text that a header can hold/);
    expect(message).not.toContain('secret');
    const declare = (): unknown => prepared({ path: '' }, { headers: { 'x-key': 'secret\nsecret' } });
    expect(declare).toThrow(/^Expected `api.headers.x-key` to be text that a header can hold/);
    expect(declare).not.toThrow(/secret/);
  });
});

describe('the body of a request', () => {
  it('[R-14] is JSON where it is an object, with its type unless another is given', () => {
    const json = prepared({ method: 'post', path: '', body: { a: [1] } });
    expect([json.method, json.body, json.headers.get('content-type')]).toEqual([
      'POST',
      '{"a":[1]}',
      'application/json',
    ]);
    const typed = prepared({ method: 'POST', path: '', body: [1], headers: { 'content-type': 'application/x+json' } });
    expect([typed.body, typed.headers.get('content-type')]).toEqual(['[1]', 'application/x+json']);
  });

  it.each([['text'], [new Uint8Array([1])], [new URLSearchParams('a=1')], [new FormData()], [new Blob(['a'])]])(
    '[R-14] goes as it is where it is no plain object: %s',
    (body) => {
      const request = prepared({ method: 'POST', path: '', body });
      expect(request.body).toBe(body);
      expect(request.headers.has('content-type')).toBe(false);
    },
  );

  it('[R-14] that cannot be sent, or not twice, is refused', () => {
    const circle: { self?: object } = {};
    circle.self = circle;
    expect(refusalOf({ method: 'POST', path: '', body: circle })).toBe('Expected `body` to be writable as JSON');
    expect(refusalOf({ method: 'POST', path: '', body: new ReadableStream() })).toMatch(
      /^Expected `body` to be text, bytes/,
    );
    expect(refusalOf({ path: '', body: 'x' })).toBe('Expected `body` to be left out: GET has none');
  });
});

describe('a request', () => {
  it.each([
    ['nothing', 'Expected a request of api to be an object'],
    [{}, 'Expected `path` to be a path below `baseUrl`, got undefined'],
    [{ path: '', methd: 'GET' }, 'Unknown option `methd`; did you mean method?'],
    [{ path: '', method: 'TRACE' }, 'Expected `method` to be a method that fetch can send, got "TRACE"'],
  ])('[R-17] that is wrong says what is: %j', (request, message) => {
    expect(refusalOf(request)).toBe(message);
  });

  it.each([
    [undefined, 'readOnly'],
    ['GET', 'readOnly'],
    ['head', 'readOnly'],
    ['OPTIONS', 'readOnly'],
    ['PUT', 'idempotent'],
    ['DELETE', 'idempotent'],
    ['POST', undefined],
    ['PATCH', undefined],
    [7, undefined],
  ])('[R-12] with method %s is %s', (method, effect) => {
    expect(effectOfRequest({ path: '', method })).toBe(effect);
  });
});

describe('the options of an HTTP API', () => {
  it.each([
    [{ baseUrl: 'ftp://x' }, /^Expected `api.baseUrl` to be an address with http or https/],
    [{ baseUrl: 'https://user:hunter2hunter2@x' }, /^Expected `api.baseUrl` to be an address .*(?<!hunter2hunter2.*)$/],
    [{}, /^Expected `api.baseUrl`/],
    [{ baseUrl: 'https://x', parse: 'xml' }, /^Expected `api.parse` to be one of json, text, bytes, response/],
    [{ baseUrl: 'https://x', maxBodyBytes: 0 }, /^Expected `api.maxBodyBytes` to be a positive integer/],
    [{ baseUrl: 'https://x', fetch: 'mine' }, /^Expected `api.fetch` to be a function/],
    [{ baseURL: 'https://x' }, /baseUrl/],
  ])('[R-17] are checked: %j', (options, message) => {
    expect(() => checkHttpOptions('api', options as HttpOptions)).toThrow(message);
  });
});
