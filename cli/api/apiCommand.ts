import { setFlagsFromString } from 'node:v8';
import { ApiProxy, startApiServer } from '../../proxy/api/apiProxy.ts';
import { type ApiProxyOptions, isElsewhere } from '../../proxy/api/settings.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { budgetIn } from '../../src/policy/face.ts';
import type { SpinningChoice } from '../../src/policy/spinning/face.ts';
import { OwnFigures, nameIn, ownMetrics, systemClock } from '../../src/runtime/face.ts';
import { startHttpServer } from '../../web/server/httpServer.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { endedCode } from '../run/exitCode.ts';
import { startTelemetry } from '../otel.ts';
import { prepareProxy } from '../proxyRuntime.ts';
import { toJson } from '../sanitize.ts';
import { startRegistry } from '../startRegistry.ts';
import type { ApiArgs } from './command.ts';

const usualDrainMs = 10_000;
/** Time in ms that clients may take for the last words they are told. */
const lastMs = 1000;

/** Serves until the command is told to end. Gives the exit code. */
export async function run(args: ApiArgs, io: Io): Promise<number> {
  // As large as it has become by now the young heap holds what is under way. What grows out of it would be collected only beyond 54 MB. 140 MB in all without either, 120 by the first, 85 by both (Node 20.20).
  for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=30']) setFlagsFromString(flag);
  const options = planApi(args, io);
  if (io.env['UNWEDGE'] === 'off') return await passAll(args, options, io);
  const prepared = await prepareProxy(args, io);
  const { registry, logger } = prepared;
  const { runtime } = registry;
  const figures = new OwnFigures(registry);
  const proxy = made(() => new ApiProxy(runtime, options));
  const telemetry = await startTelemetry(args.otel, registry, io);
  await startRegistry(registry, logger);
  const server = await startApiServer(proxy, {
    clock: runtime.clock,
    port: args.port,
    metrics: () => ownMetrics(figures),
  }).catch(async (error: unknown) => {
    await registry.stop();
    throw new CommandError(`Cannot listen on port ${args.port}: ${messageOf(error)}`, { cause: error });
  });
  const live = registry.show({
    name: `unwedge api ${proxy.name}`,
    methods: {
      layers: () => proxy.layers(),
      why(params) {
        throw new RangeError(`No session \`${nameIn(params, 'session')}\`: this is a proxy of ${proxy.name}`);
      },
    },
  });
  await prepared.openStore();
  await live.open();
  tell(server.origin, proxy.name, clientLines(server.origin, options.upstream), args.json, io);
  await untilAborted(io.signal);
  const drainMs = args.drain ?? usualDrainMs;
  // First: who comes now is to find nobody, rather than somebody who refuses.
  const closed = server.close(drainMs + lastMs);
  await registry.stop({ drainMs });
  await closed;
  await telemetry.end();
  return endedCode(io.signal) ?? 0;
}

/** Listens, and passes requests and answers on as they are. */
async function passAll(args: ApiArgs, { name, upstream }: ApiProxyOptions, io: Io): Promise<number> {
  const { passApi } = await import('../off/passApi.ts');
  const server = await startHttpServer({
    clock: systemClock,
    port: args.port,
    holdsProcess: true,
    answer: passApi(upstream),
  }).catch((error: unknown) => {
    throw new CommandError(`Cannot listen on port ${args.port}: ${messageOf(error)}`, { cause: error });
  });
  tell(server.origin, name ?? new URL(upstream).host, clientLines(server.origin, upstream), args.json, io);
  io.stderr.write('unwedge: UNWEDGE is off: requests and answers pass as they are\n');
  await untilAborted(io.signal);
  await server.close(lastMs);
  return endedCode(io.signal) ?? 0;
}

function planApi(args: ApiArgs, { env }: Io): ApiProxyOptions {
  const { upstream, fallback, name, 'fallback-key': variable, 'fallback-client-key': fallbackClientKey } = args;
  if (upstream === undefined) {
    throw new UsageError(
      'No upstream given; say where the API is, as in `unwedge api --upstream https://api.anthropic.com`',
    );
  }
  if (variable !== undefined && fallback === undefined)
    throw new UsageError('--fallback-key is of no use without --fallback');
  if (variable !== undefined && fallbackClientKey)
    throw new UsageError('--fallback-key and --fallback-client-key exclude each other');
  if (isElsewhere(upstream, fallback) && variable === undefined && !fallbackClientKey) {
    throw new UsageError(
      "--fallback is another host, which the client's key is not for: give --fallback-key NAME (the variable with its key), or --fallback-client-key to send it the client's",
    );
  }
  const fallbackKey = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && !fallbackKey)
    throw new UsageError(`The variable of --fallback-key is not set: ${variable}`);
  return {
    upstream,
    fallback,
    fallbackKey,
    fallbackClientKey,
    name,
    budgetMs: args.budget,
    headersMs: args['headers-timeout'],
    bytesMs: args['idle-timeout'],
    firstContentMs: args['first-content-timeout'],
    contentMs: args['content-timeout'],
    wholeMs: args['whole-timeout'],
    // Checked with the others.
    spending: args.spend === undefined ? undefined : budgetIn(args.spend),
    spinning: args.spinning as SpinningChoice | undefined,
  };
}

/** By which options of the command those of the proxy are given. */
const flags: Readonly<Record<string, string | undefined>> = {
  upstream: '`--upstream`',
  fallback: '`--fallback`',
  budgetMs: '`--budget`',
  headersMs: '`--headers-timeout`',
  bytesMs: '`--idle-timeout`',
  firstContentMs: '`--first-content-timeout`',
  contentMs: '`--content-timeout`',
  wholeMs: '`--whole-timeout`',
  spinning: '`--spinning`',
} satisfies Partial<Record<keyof ApiProxyOptions, string>>;

/** Turns a fault in an option into wrong usage, told by its name on the command line. */
function made(make: () => ApiProxy): ApiProxy {
  try {
    return make();
  } catch (error) {
    throw new UsageError(messageOf(error).replaceAll(/`(\w+)`/g, (text, name: string) => flags[name] ?? text));
  }
}

function tell(origin: string, name: string, clients: readonly ClientLine[], isJson: boolean, io: Io): void {
  if (isJson) {
    io.stdout.write(toJson({ name, url: origin, clients }));
    return;
  }
  const lines = clients.flatMap(({ client, set }) => ['', `${client}:`, ...set.split('\n').map((line) => `  ${line}`)]);
  io.stdout.write(`${[`${name} is at ${origin}`, ...lines].join('\n')}\n`);
}

/** Line that tells a client the address of the proxy. */
interface ClientLine {
  readonly client: string;
  /** Setting to make, word for word. */
  readonly set: string;
}

/** Lists the settings for each client that an upstream is for, for a proxy that listens at `origin`; for all of them where it is not known. */
export function clientLines(origin: string, upstream: string): readonly ClientLine[] {
  const host = new URL(upstream).hostname;
  const [messages, responses] = [ofMessages(origin), ofResponses(origin)];
  if (isOf('anthropic.com', host)) return messages;
  return isOf('openai.com', host) ? responses : [...messages, ...responses];
}

function isOf(domain: string, host: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function ofMessages(origin: string): readonly ClientLine[] {
  return [
    { client: 'Claude Code', set: `ANTHROPIC_BASE_URL=${origin} claude` },
    { client: 'Anthropic SDK', set: `new Anthropic({ baseURL: '${origin}' })` },
  ];
}

/** Codex's own provider would try a WebSocket first. */
function ofResponses(origin: string): readonly ClientLine[] {
  return [
    { client: 'Codex', set: `codex -c openai_base_url='"${origin}/v1"'` },
    {
      client: 'Codex, in config.toml',
      set: [
        'model_provider = "unwedge"',
        '[model_providers.unwedge]',
        'name = "unwedge"',
        `base_url = "${origin}/v1"`,
        'wire_api = "responses"',
        'env_key = "OPENAI_API_KEY"',
        'supports_websockets = false',
      ].join('\n'),
    },
    { client: 'OpenAI SDK, AI SDK', set: `new OpenAI({ baseURL: '${origin}/v1' })` },
  ];
}
