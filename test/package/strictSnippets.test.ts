import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const blocks = /^```(?:js|ts)\n([\s\S]*?)^```/gm;

/** The programs that are shown, by where they are shown. */
function shown(): ReadonlyMap<string, string> {
  const examples = readdirSync(join(root, 'examples')).filter((name) => /\.(?:mjs|ts)$/.test(name));
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = [
    'README.md',
    'AGENTS.md',
    ...inDocs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
  ];
  return new Map([
    ...examples.map((name) => [`examples/${name}`, read(`examples/${name}`)] as const),
    ...pages.flatMap((page) =>
      [...read(page).matchAll(blocks)].map(([, code = ''], at) => [`${page} no. ${at + 1}`, code] as const),
    ),
  ]);
}

/** What TypeScript says of each of these programs of a strict user. */
async function complaintsAbout(programs: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const directory = join(root, '.build', `snippets-${crypto.randomUUID()}`);
  mkdirSync(directory, { recursive: true });
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const compilerOptions = {
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    moduleDetection: 'force',
    noEmit: true,
  };
  const names = [...programs.keys()];
  const files = names.map((_, at) => `program${at}.mts`);
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'examples/tsconfig.json'), compilerOptions, files: ['hosts.d.ts', ...files] }),
  );
  writeFileSync(join(directory, 'hosts.d.ts'), hosts);
  for (const [at, name] of names.entries())
    writeFileSync(join(directory, `program${at}.mts`), programs.get(name) ?? '');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await execa(process.execPath, [tsc, '-p', directory], { reject: false });
  return stdout
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => line.replace(/^.*program(\d+)\.mts/, (_, at: string) => names[Number(at)] ?? at));
}

/** Packages that are not needed for anything else here; of their types, what is used. */
const hosts = `declare module 'express' {
  type Headers = Readonly<Record<string, string>>;
  export interface Response {
    on(event: 'close', listener: () => void): this;
    status(code: number): this;
    set(headers: Headers): this;
    set(header: string, value: string): this;
    json(body: unknown): this;
    send(body: string): this;
  }
  interface Request {
    readonly params: { readonly id: string };
    readonly query: Readonly<Record<string, unknown>>;
    readonly headers: import('node:http').IncomingHttpHeaders;
    readonly body: any;
  }
  type Handler = (request: Request, response: Response) => void | Promise<void>;
  interface App {
    use(handler: unknown): this;
    get(path: string, handler: Handler): this;
    post(path: string, handler: Handler): this;
    listen(port: number, host: string, listening: (error?: Error) => void): import('node:http').Server;
  }
  const express: (() => App) & { json(): unknown };
  export default express;
}
declare module 'fastify' {
  interface Reply {
    code(status: number): this;
    headers(values: Readonly<Record<string, string>>): this;
    send(body: unknown): this;
  }
  interface App {
    addHook(name: 'onReady' | 'preClose', hook: () => Promise<void>): this;
    get<Route extends { Querystring: unknown }>(
      path: string,
      handler: (request: { readonly query: Route['Querystring'] }, reply: Reply) => Promise<unknown>,
    ): this;
    listen(options: { readonly port: number }): Promise<string>;
    close(): Promise<void>;
  }
  export default function fastify(): App;
}
declare module 'opossum' {
  interface Options {
    readonly timeout?: number;
    readonly resetTimeout?: number;
    readonly errorThresholdPercentage?: number;
    readonly volumeThreshold?: number;
  }
  export default class CircuitBreaker<I extends unknown[], O> {
    constructor(action: (...input: I) => Promise<O>, options: Options);
    fallback(answer: (...input: I) => O): this;
    on(event: 'open', listener: () => void): this;
    fire(...input: I): Promise<O>;
    shutdown(): void;
  }
}
declare module 'bullmq' {
  interface Options { readonly connection: { readonly host: string; readonly port: number }; readonly concurrency?: number }
  export class QueueEvents { constructor(name: string, options: Options) }
  interface Job { readonly data: any; waitUntilFinished(events: QueueEvents): Promise<unknown> }
  export class Queue {
    constructor(name: string, options: Options);
    add(name: string, data: unknown, options: { readonly jobId?: string }): Promise<Job>;
  }
  export class Worker {
    constructor(name: string, work: (job: Job) => Promise<unknown>, options: Options);
    close(): Promise<void>;
  }
}
declare module 'cockatiel' {
  interface Policy { execute<T>(work: () => PromiseLike<T>): Promise<T> }
  export const handleAll: unknown;
  export class ConstantBackoff { constructor(ms: number) }
  export class ConsecutiveBreaker { constructor(failures: number) }
  export enum TimeoutStrategy { Cooperative = 'optimistic', Aggressive = 'aggressive' }
  export function retry(policy: unknown, options: { maxAttempts: number; backoff: ConstantBackoff }): Policy;
  export function circuitBreaker(policy: unknown, options: { halfOpenAfter: number; breaker: ConsecutiveBreaker }): Policy;
  export function timeout(ms: number, strategy: TimeoutStrategy): Policy;
  export function wrap(...policies: Policy[]): Policy;
}
declare module 'p-retry' {
  export class AbortError extends Error {}
  export default function pRetry<T>(
    work: (attempt: number) => PromiseLike<T> | T,
    options: { retries?: number; minTimeout?: number; factor?: number },
  ): Promise<T>;
}
declare module '@nestjs/common' {
  export function Injectable(): <T extends Function>(target: T) => T | void;
  export interface OnModuleInit { onModuleInit(): unknown }
  export interface BeforeApplicationShutdown { beforeApplicationShutdown(signal?: string): unknown }
}
`;

describe('what the examples and pages show', () => {
  it('[U-6] [U-7] is compiled as the tsconfig.json of the examples says, which is strict', () => {
    const { compilerOptions } = JSON.parse(read('examples/tsconfig.json')) as { readonly compilerOptions: object };
    expect(compilerOptions).toMatchObject({ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true });
  });

  it('[U-6] [U-7] compiles as it stands in a strict TypeScript program', async () => {
    expect(await complaintsAbout(shown())).toEqual([]);
  });
});
