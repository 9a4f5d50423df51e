import { failed, ok, spinning } from '../build.ts';
import { chance, gives, hex, iso, reads, uuid } from './make.ts';
import type { ShapeFailureKind, SpinningShape } from '../shape.ts';

const fails = (
  name: string,
  tool: string,
  input: unknown,
  message: (round: number) => string,
  kind: ShapeFailureKind = 'tool_error',
) => spinning(name, (round) => failed(tool, input, message(round), { kind }));

export const spinningTraces: readonly SpinningShape[] = [
  fails('a request id with a prefix', 'complete', { model: 'm' }, (round) => {
    return `400 invalid_request_error: max_tokens is required (request_id: req_011C${hex(round, 20)})`;
  }),
  fails(
    'a cloud: RequestID and HostId',
    's3_copy',
    { from: 'a', to: 'b' },
    (round) => {
      return `AccessDenied: Access Denied (RequestID: ${hex(round, 16).toUpperCase()}, HostID: ${hex(round + 50, 40)}=)`;
    },
    'auth',
  ),
  fails('a trace of the caller', 'grpc', { method: 'shop.Orders/Get' }, (round) => {
    return `rpc error: code = Internal desc = nil order traceparent=00-${hex(round, 32)}-${hex(round + 9, 16)}-01`;
  }),
  fails(
    'a correlation id in JSON',
    'graph_mail',
    { to: 'kim@example.org' },
    (round) => {
      return `{"error":{"code":"ErrorInvalidRecipients","innerError":{"client-request-id":"${uuid(round)}","date":"${iso(round)}"}}}`;
    },
    'invalid',
  ),
  fails(
    'a correlation id in words',
    'az',
    { args: ['vm', 'start'] },
    (round) => {
      return `(AuthorizationFailed) The client may not start the machine. Correlation ID: ${uuid(round)}`;
    },
    'auth',
  ),
  spinning(
    'an error page of a proxy with its ray',
    (round) =>
      ok(
        'browser_html',
        { url: 'https://shop.example/' },
        `<!DOCTYPE html>\n<html><head><title>502</title></head><body><h1>Bad gateway</h1><p>${iso(round)}</p>` +
          `<span>Ray ID: <strong>${hex(round, 16)}</strong></span></body></html>`,
      ),
    reads('browser_html'),
  ),
  fails('python: an object with its address', 'run_python', { file: 'bot.py' }, (round) => {
    return `AttributeError: <shop.Cart object at 0x7f${hex(round, 10)}> has no attribute 'total'`;
  }),
  fails('java: an object with its hash', 'run_jar', { jar: 'bot.jar' }, (round) => {
    return `java.lang.IllegalStateException: closed: com.acme.Pool@${hex(round, 8)}`;
  }),
  fails('java: a thread of a pool', 'call_bean', { bean: 'orders' }, (round) => {
    return `${iso(round)} ERROR [http-nio-8080-exec-${chance(round, 10) + 1}] orders: no data source`;
  }),
  fails('go: a panic and its goroutine', 'go_run', { package: './cmd/bot' }, (round) => {
    return `panic: nil map\n\ngoroutine ${chance(round, 90) + 1} [running]:\nmain.main()\n\t/src/main.go:12 +0x${hex(round, 3)}`;
  }),
  fails('python: the same traceback each time', 'execute', { file: 'etl.py' }, () => {
    return 'Traceback (most recent call last):\n  File "etl.py", line 3, in <module>\n    import pandas\nModuleNotFoundError: No module named \'pandas\'';
  }),
  fails('a process that dies, and its number', 'ffmpeg', { in: 'a.mov' }, (round) => {
    return `process ${chance(round, 30_000) + 100} exited: moov atom not found (pid=${chance(round, 30_000) + 100})`;
  }),
  fails('attempts in words', 'push', { branch: 'main' }, (round) => {
    return `attempt ${round + 1}/50: remote rejected: protected branch`;
  }),
  fails('attempts in german', 'lade_hoch', { datei: 'a.pdf' }, (round) => {
    return `Versuch ${round + 1} von 50: Datei ist gesperrt`;
  }),
  spinning(
    'elasticsearch: how long it took',
    (round) =>
      ok(
        'es_search',
        { index: 'orders', q: 'x' },
        `{"took":${chance(round, 90)},"timed_out":false,"hits":{"total":{"value":0},"hits":[]}}`,
      ),
    { ...reads('es_search'), breaks: { 5: 'restart' } },
  ),
  fails('gradle: how long it took', 'gradlew', { task: 'test' }, (round) => {
    return `BUILD FAILED in ${chance(round, 40) + 2}s: task ':lint' not found`;
  }),
  fails('chinese: how long it took', 'fanyi', { wen: '你好' }, (round) => {
    return `翻译失败：不支持的语言（耗时 ${chance(round, 900) + 10} 毫秒）`;
  }),
  fails('german: how long it took', 'uebersetze', { text: 'moin' }, (round) => {
    return `Sprache unbekannt (nach ${chance(round, 50) + 2} Sekunden abgebrochen)`;
  }),
  fails('dotnet: elapsed', 'msbuild', { target: 'Pack' }, (round) => {
    return `MSB4057: the target "Pack" does not exist. Time Elapsed 00:00:0${chance(round, 9)}.${chance(round + 3, 90) + 10}`;
  }),
  spinning(
    'JSON with its keys in another order, and times inside',
    (round) => {
      const entries = Object.entries({
        id: 7,
        state: 'open',
        seen: { at: iso(round), by: 'scanner' },
        tags: ['a', 'b'],
      });
      const turned = entries.map((_, index) => entries[(index + round) % entries.length] ?? ['', 0]);
      return ok('get_parcel', { id: 7 }, JSON.stringify(Object.fromEntries(turned)));
    },
    reads('get_parcel'),
  ),
  spinning(
    'structured JSON with a request id, a time and a duration as numbers',
    (round) =>
      gives(
        'list_tickets',
        { state: 'new' },
        {
          content: [{ type: 'text', text: '0 tickets' }],
          structuredContent: {
            tickets: [],
            meta: { requestId: uuid(round), durationMs: chance(round, 90) + 1, ts: iso(round) },
          },
        },
      ),
    reads('list_tickets'),
  ),
];
