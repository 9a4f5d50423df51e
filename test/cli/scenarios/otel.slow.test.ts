import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyModelApi } from '../../../testing/index.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlpReceiver.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { ask } from '../../proxy/api/startApiProxy.ts';
import { makeHome, startMcp, textOf } from '../startMcp.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const main = join(root, 'dist/cli/main.js');
const printsTrace = ['--', process.execPath, '-e', 'console.log(process.env.TRACEPARENT)'];

async function run(words: readonly string[], env: NodeJS.ProcessEnv, program = main) {
  const home = makeHome();
  const given = { env: { ...home.env, ...env }, extendEnv: false, reject: false, stdin: 'ignore' } as const;
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, ...words], given);
  return { code: exitCode, stdout, stderr };
}

/** The package as it is installed, without the optional packages beside it. */
function installAlone(): string {
  const modules = join(temporaryDirectory(), 'node_modules');
  const own = join(modules, 'unwedge');
  mkdirSync(join(modules, '@modelcontextprotocol'), { recursive: true });
  cpSync(join(root, 'dist'), join(own, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(own, 'package.json'));
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: object;
  };
  for (const name of Object.keys(dependencies)) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  return join(own, 'dist/cli/main.js');
}

describe('--otel', () => {
  it('[O-5] exports the span of a run and its metrics, in the trace that the command was started in', async () => {
    const collector = await startOtlpReceiver();
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const TRACEPARENT = `00-${trace}-b7ad6b7169203331-01`;
    const ran = await run(['run', '--otel', '--name', 'job', ...printsTrace], { ...collector.env, TRACEPARENT });
    const span = collector.span('call job');
    expect(ran).toEqual({ code: 0, stdout: `00-${trace}-${span.spanId}-01`, stderr: '' });
    expect(span).toMatchObject({ traceId: trace, parentSpanId: 'b7ad6b7169203331' });
    expect(span.resource).toMatchObject({ 'service.name': 'unwedge' });
    expect(Object.keys(span.resource).filter((name) => name.startsWith('process.'))).toEqual([]);
    expect(collector.metrics).toContain('unwedge.call.duration');
  });

  it.each(['http/protobuf', 'http/json'])('[O-5] honours the variables of OpenTelemetry, with %s', async (protocol) => {
    const collector = await startOtlpReceiver();
    const { code } = await run(['run', '--otel', ...printsTrace], {
      ...collector.env,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
      OTEL_SERVICE_NAME: 'night-job',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    expect(code).toBe(0);
    const type = protocol === 'http/json' ? 'application/json' : 'application/x-protobuf';
    for (const { headers } of collector.requests)
      expect(headers).toMatchObject({ authorization: 'Bearer of-the-collector', 'content-type': type });
    expect(collector.requests.map(({ path }) => path).sort()).toEqual(['/v1/metrics', '/v1/traces']);
    const resource = { 'service.name': 'night-job', 'deployment.environment.name': 'test' };
    expect(collector.spans).toMatchObject([{ resource }]);
  });

  it('[O-5] says once that the collector is not there, and changes nothing of the run', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '100' };
    const { code, stdout, stderr } = await run(['run', '--otel', '--', process.execPath, '-e', 'process.exit(3)'], env);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^unwedge: OpenTelemetry: .*ECONNREFUSED.*$/);
  });

  it('[O-5] does not wait for a collector that hangs for longer than its bound', async () => {
    const collector = await startOtlpReceiver({ hangs: true });
    const { code, stderr } = await run(['run', '--otel', ...printsTrace], {
      ...collector.env,
      OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
    });
    expect(code).toBe(0);
    expect(stderr).toBe('unwedge: OpenTelemetry: not all spans and metrics could be sent within 2s');
  });

  it('[O-5] names the packages where they are not installed, in one line', async () => {
    const alone = installAlone();
    const { code, stdout, stderr } = await run(['run', '--otel', '--', 'true'], {}, alone);
    expect([code, stdout]).toEqual([125, '']);
    expect(stderr).toBe(
      'unwedge: --otel needs OpenTelemetry, which is not installed; run: npm install @opentelemetry/api @opentelemetry/sdk-node',
    );
    expect(await run(['run', ...printsTrace], {}, alone)).toMatchObject({ code: 0, stderr: '' });
  });

  it.each(['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER'])('[O-5] refuses to write to stdout: %s', async (name) => {
    const { code, stdout, stderr } = await run(['run', '--otel', '--', 'true'], { [name]: 'otlp, console' });
    expect([code, stdout]).toEqual([125, '']);
    expect(stderr).toMatch(`unwedge: ${name} is console`);
  });

  it('[O-5] writes what the SDK logs to stderr, and nothing of it to stdout', async () => {
    const collector = await startOtlpReceiver();
    const { stdout, stderr } = await run(['run', '--otel', '--', process.execPath, '-e', 'console.log(1)'], {
      ...collector.env,
      OTEL_LOG_LEVEL: 'debug',
    });
    expect(stdout).toBe('1');
    expect(stderr).toContain('unwedge: OpenTelemetry: ');
  });

  it('[O-5] exports the calls of a proxy, whose stdout holds MCP alone', async () => {
    const collector = await startOtlpReceiver();
    const home = makeHome();
    const mcp = startMcp({ ...home, env: { ...home.env, ...collector.env } }, ['--otel', '--name', 'kb']);
    await mcp.open();
    expect(textOf(await mcp.call({ do: 'say', raw: '' }))).toBe('said');
    mcp.child.stdin.end();
    expect((await mcp.exited).code).toBe(0);
    expect(collector.spans.map(({ name }) => name)).toContain('tools/call act');
    for (const line of mcp.stdout().trim().split('\n')) expect(line).toContain('"jsonrpc"');
  });

  it('[O-5] exports the requests of a model API', async () => {
    const collector = await startOtlpReceiver();
    const { exited, origin, child } = await startApi(collector);
    await ask(origin).got;
    child.kill();
    await exited;
    expect(collector.spans.length).toBeGreaterThan(0);
  });
});

async function startApi(collector: OtlpReceiver) {
  const model = await faultyModelApi([{}]);
  const { env } = makeHome();
  const child = spawn(process.execPath, [main, 'api', '--otel', '--upstream', model.url, '--name', 'model'], {
    env: { ...env, ...collector.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    await model.close();
  });
  let stdout = '';
  const origin = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, exited, origin };
}

describe('docs/observability.md', () => {
  const page = readFileSync(join(root, 'docs/observability.md'), 'utf8');
  const found = (pattern: RegExp): string =>
    pattern.exec(page)?.[1] ?? expect.fail(`The page has no ${pattern.source}`);

  it('[O-5] shows an environment with which the command exports', async () => {
    const collector = await startOtlpReceiver();
    const env = variables(found(/^export (OTEL_.*)$/m), collector);
    expect(page).toContain('npx unwedge run --otel -- node job.mjs');
    expect(await run(['run', '--otel', ...printsTrace], env)).toMatchObject({ code: 0, stderr: '' });
    expect(collector.spans).toMatchObject([{ name: 'call node', resource: { 'service.name': 'nightly' } }]);
  });

  it('[O-5] shows a gateway, and an environment with which it exports', async () => {
    const collector = await startOtlpReceiver();
    const env = variables(found(/^(OTEL_\S+ OTEL_\S+) node gateway\.mjs/m), collector);
    const code = found(/`gateway\.mjs`:\n\n```js\n([\s\S]*?)^```/m);
    await execa(process.execPath, ['--input-type=module', '--eval', code], { cwd: root, env });
    expect(collector.span('call kb').resource).toMatchObject({ 'service.name': 'gateway' });
    expect(collector.metrics).toContain('unwedge.call.duration');
  });

  /** As the page has them, but for the port of the collector. */
  function variables(text: string, { url }: OtlpReceiver): Record<string, string> {
    expect(text).toContain('http://localhost:4318');
    const own = text.replace('localhost:4318', `localhost:${new URL(url).port}`);
    return Object.fromEntries(own.split(' ').map((each) => each.split('=', 2) as [string, string]));
  }
});
