import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { deferred, type Deferred } from './deferred.ts';

/** What the token endpoint does with one request; `hold` waits for `release`. */
export type TokenFault =
  | 'oauth_503'
  | 'html_503'
  | 'html_200'
  | 'no_token'
  | 'reset'
  | 'hold'
  | 'invalid_client'
  | 'lost_answer'
  | 'no_headers';

/** Takes parts of its metadata away, or puts others in their place. */
export interface AuthorizationServerOptions {
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** In seconds. @defaultValue 3600 */
  readonly expiresIn?: number;
  /** Whether the reuse of a refresh token ends all that came from it. @defaultValue true */
  readonly revokesFamilies?: boolean;
  /** Of the callback. @defaultValue its own */
  readonly iss?: string;
  /** What it says of a new device code, in place of the usual. */
  readonly device?: Readonly<Record<string, unknown>>;
}

interface Family {
  access: string;
  refresh: string;
  isOver: boolean;
}

/** An authorization server as MCP servers use them: registration, PKCE, refresh tokens that change with each use. */
export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const server = new AuthorizationServer(options);
  await server.listen();
  onTestFinished(() => server.close());
  return server;
}

export class AuthorizationServer {
  url = '';
  /** Its requests for tokens, as they were sent. */
  readonly tokenRequests: URLSearchParams[] = [];
  /** All requests, by path. */
  readonly paths: string[] = [];
  /** Its requests for device codes, as they were sent. */
  readonly deviceRequests: URLSearchParams[] = [];
  /** What it says to those who ask for the tokens of a device code, in order; then that nobody has decided yet, or the tokens. */
  readonly deviceErrors: string[] = [];
  /** Whether the person has entered the code, and said yes. */
  isEntered = false;
  /** What happens to the next requests for tokens, in order. */
  readonly faults: TokenFault[] = [];
  /** Connections that are open as it sees them. Its clients are told to keep them for longer than a test lasts. */
  readonly open = new Set<Socket>();
  /** Whether a resource that asks is told that tokens are good. */
  acceptsTokens = true;
  expiresIn: number;
  readonly #options: AuthorizationServerOptions;
  readonly #families: Family[] = [];
  readonly #codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  readonly #clients = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #held: Deferred<void> = deferred<void>();
  readonly #http = createServer((request, response) => void this.#take(request, response));

  constructor(options: AuthorizationServerOptions) {
    this.#options = options;
    this.expiresIn = options.expiresIn ?? 3600;
  }

  async listen(): Promise<void> {
    this.#http.keepAliveTimeout = 600_000;
    this.#http.on('connection', (socket: Socket) => {
      this.open.add(socket);
      socket.on('close', () => this.open.delete(socket));
    });
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#http.close(() => resolve());
      this.#http.closeAllConnections();
    });
  }

  /** Whether a resource takes this token. */
  readonly accepts = (token: string | undefined): boolean =>
    this.acceptsTokens && this.#families.some(({ access, isOver }) => !isOver && access === token);

  /** The access tokens are good no more; the refresh tokens are. */
  expireAll(): void {
    for (const family of this.#families) family.access = 'expired';
  }

  revokeAll(): void {
    for (const family of this.#families) family.isOver = true;
  }

  release(): void {
    this.#held.resolve();
    this.#held = deferred<void>();
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '/', this.url);
    this.paths.push(url.pathname);
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, { ...this.#metadata(), ...this.#options.metadata });
      case '/register': {
        const client_id = randomUUID();
        this.#clients.add(client_id);
        return json(response, 201, { ...(JSON.parse(body) as object), client_id });
      }
      case '/authorize':
        return this.#authorize(url, response);
      case '/device':
        this.deviceRequests.push(new URLSearchParams(body));
        return json(response, 200, {
          ...{ device_code: 'planted-device-code', user_code: 'WDJB-MJHT', verification_uri: `${this.url}/enter` },
          ...{ expires_in: 600, interval: 5, ...this.#options.device },
        });
      case '/token':
        this.tokenRequests.push(new URLSearchParams(body));
        for (const check of this.#waiting) check();
        return this.#token(new URLSearchParams(body), response, this.faults.shift());
      default:
        return json(response, 404, {});
    }
  }

  #metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      device_authorization_endpoint: `${this.url}/device`,
      registration_endpoint: `${this.url}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['tools', 'offline_access'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  /** The person behind the browser says yes at once. */
  #authorize({ searchParams }: URL, response: ServerResponse): void {
    const redirect = searchParams.get('redirect_uri') ?? '';
    const code = randomUUID();
    this.#codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', redirect });
    const back = new URL(redirect);
    back.search = String(
      new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: this.#options.iss ?? this.url }),
    );
    response.writeHead(302, { location: back.href }).end();
  }

  async #token(asked: URLSearchParams, response: ServerResponse, fault: TokenFault | undefined): Promise<void> {
    if (fault === 'hold') await this.#held.promise;
    if (fault === 'html_200') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>');
    if (fault === 'no_token') return json(response, 200, { token_type: 'Bearer' });
    if (fault === 'oauth_503') return json(response, 503, { error: 'temporarily_unavailable' });
    if (fault === 'html_503') return void response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Busy</h1>');
    if (fault === 'reset') return void response.socket?.resetAndDestroy();
    if (fault === 'invalid_client') return json(response, 401, { error: 'invalid_client' });
    if (fault === 'no_headers') return;
    if (asked.get('grant_type')?.endsWith(':device_code') === true) {
      const error = this.deviceErrors.shift() ?? (this.isEntered ? undefined : 'authorization_pending');
      if (error !== undefined) return json(response, 400, { error });
    }
    const family = this.#grant(asked);
    if (fault === 'lost_answer') return void response.socket?.resetAndDestroy();
    if (family === undefined) return json(response, 400, { error: 'invalid_grant' });
    const { access, refresh } = family;
    const tokens = { access_token: access, token_type: 'Bearer', expires_in: this.expiresIn };
    json(response, 200, refresh === '' ? tokens : { ...tokens, refresh_token: refresh });
  }

  #grant(asked: URLSearchParams): Family | undefined {
    switch (asked.get('grant_type') ?? '') {
      case 'authorization_code': {
        const code = this.#codes.get(asked.get('code') ?? '');
        this.#codes.delete(asked.get('code') ?? '');
        const challenge = createHash('sha256')
          .update(asked.get('code_verifier') ?? '')
          .digest('base64url');
        if (code?.challenge !== challenge || code.redirect !== asked.get('redirect_uri')) return undefined;
        return this.#begin(randomUUID());
      }
      case 'urn:ietf:params:oauth:grant-type:device_code':
        return asked.get('device_code') === 'planted-device-code' ? this.#begin(randomUUID()) : undefined;
      case 'client_credentials':
        return this.#begin('');
      case 'refresh_token': {
        const token = asked.get('refresh_token') ?? '';
        const [familyId = ''] = token.split(':');
        const family = this.#families.find(({ refresh }) => familyId !== '' && refresh.startsWith(`${familyId}:`));
        if (family === undefined || family.isOver) return undefined;
        if (family.refresh !== token) {
          family.isOver = this.#options.revokesFamilies !== false;
          return undefined;
        }
        family.access = `access-${randomUUID()}`;
        family.refresh = `${familyId}:${randomUUID()}`;
        return family;
      }
      default:
        return undefined;
    }
  }

  #begin(familyId: string): Family {
    const refresh = familyId === '' ? '' : `${familyId}:${randomUUID()}`;
    const family = { access: `access-${randomUUID()}`, refresh, isOver: false };
    this.#families.push(family);
    return family;
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
