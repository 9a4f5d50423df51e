import type { SpinningShape } from '../shape.ts';
import {
  base32,
  base62,
  bash,
  clock,
  fails,
  fraction,
  hex,
  iso,
  millis,
  moment,
  num,
  pid,
  reads,
  seconds,
  uuid,
} from './make.ts';

/** Errors of services, clouds and logs, with the ids and times each answer has of its own. */
export const spinningServices: readonly SpinningShape[] = [
  bash(
    'headers of a reply',
    'curl -is https://api.example.com/v1/x',
    (k) =>
      `HTTP/2 503\ndate: ${moment(k).toUTCString()}\ncontent-type: application/json\nx-request-id: ${uuid(k)}\ncf-ray: ${hex(k, 16)}-FRA\nage: ${num(k, 0, 60)}\nserver: cloudflare\n\n{"error":"unavailable","timestamp":"${iso(k)}"}`,
    {},
    22,
  ),
  fails(
    'S3 that denies',
    's3__list',
    { bucket: 'b' },
    (k) =>
      `AccessDenied: Access Denied (Service: Amazon S3; Status Code: 403; Error Code: AccessDenied; Request ID: ${base32(k, 16)}; S3 Extended Request ID: ${base62(k, 56)}=; Proxy: null)`,
  ),
  bash(
    'a Lambda error',
    'aws lambda invoke',
    (k) =>
      `START RequestId: ${uuid(k)} Version: $LATEST\n[ERROR] KeyError: 'x'\nREPORT RequestId: ${uuid(k)}\tDuration: ${seconds(k)} ms\tBilled Duration: ${millis(k)} ms\tMemory Size: 128 MB\tXRAY TraceId: 1-${hex(k, 8)}-${hex(k, 24)}`,
    {},
    254,
  ),
  fails(
    'Entra ID',
    'azure__login',
    { tenant: 't' },
    (k) =>
      `AADSTS7000215: Invalid client secret provided. Trace ID: ${uuid(k)} Correlation ID: ${uuid(k, 9)} Timestamp: ${iso(k).slice(0, 19).replace('T', ' ')}Z`,
  ),
  fails(
    'Azure storage',
    'azure__blob',
    { name: 'a' },
    (k) =>
      `The specified container does not exist. RequestId:${uuid(k)} Time:${iso(k).slice(0, 19)}.${fraction(k, 7)}Z`,
  ),
  fails(
    'Google Cloud',
    'gcp__run',
    { job: 'a' },
    (k) =>
      `{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.RequestInfo","requestId":"${num(k, 1e8, 9e8)}${num(k, 1e8, 9e8, 2)}"}]}}`,
  ),
  fails(
    'spans of OpenTelemetry',
    'orders__get',
    { id: 7 },
    (k) => `upstream failed trace_id=${hex(k, 32)} span_id=${hex(k, 16)} trace_flags=01`,
  ),
  fails(
    'a traceparent',
    'orders__get',
    { id: 8 },
    (k) => `500 Internal Server Error (traceparent: 00-${hex(k, 32)}-${hex(k, 16)}-01)`,
  ),
  fails(
    '.NET',
    'shop__post',
    { a: 1 },
    (k) =>
      `{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","title":"One or more validation errors occurred.","status":400,"traceId":"00-${hex(k, 32)}-${hex(k, 16)}-00"}`,
  ),
  fails(
    'Kestrel',
    'shop__post',
    { a: 2 },
    (k) =>
      `Connection id "0HN${base32(k, 10)}", Request id "0HN${base32(k, 10)}:0000000${num(k, 1, 9)}": An unhandled exception was thrown by the application.`,
  ),
  fails(
    'Stripe',
    'stripe__charge',
    { amount: 10 },
    (k) => `No such customer: 'cus_1'; request id req_${base62(k, 14)}`,
  ),
  fails(
    'OpenAI',
    'images__edit',
    { n: 1 },
    (k) =>
      `The server had an error processing your request. Please contact us through our help center and include the request ID req_${hex(k, 32)} in your message.`,
  ),
  fails(
    'Anthropic',
    'ask__model',
    { q: 1 },
    (k) =>
      `400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"},"request_id":"req_011C${base62(k, 20)}"}`,
  ),
  bash(
    'pino',
    'node server.js',
    (k) =>
      `{"level":50,"time":${moment(k).getTime()},"pid":${pid(k)},"hostname":"box","msg":"connect ECONNREFUSED 127.0.0.1:5432"}`,
  ),
  bash(
    'bunyan',
    'node old.js',
    (k) => `{"name":"app","hostname":"box","pid":${pid(k)},"level":50,"msg":"no database","time":"${iso(k)}","v":0}`,
  ),
  bash(
    'zap',
    './app',
    (k) =>
      `{"level":"error","ts":${Math.floor(moment(k).getTime() / 1000)}.${fraction(k, 7)},"caller":"app/main.go:17","msg":"no database","elapsed":0.${fraction(k, 6)}}`,
  ),
  bash(
    'logfmt',
    './app2',
    (k) =>
      `time=${iso(k)} level=ERROR msg="no database" duration=${num(k, 1, 9)}.${fraction(k, 3)}ms pid=${pid(k)} req_id=${base62(k, 20)}`,
  ),
  reads(
    'lines of the journal',
    'logs__tail',
    { unit: 'app', lines: 1 },
    (k) => `Nov 30 ${clock(k)} box app[${pid(k)}]: error: no database`,
  ),
  reads(
    'nginx',
    'logs__tail',
    { unit: 'nginx', lines: 1 },
    (k) =>
      `2026/11/30 ${clock(k)} [error] ${pid(k)}#${pid(k)}: *${num(k, 100, 900)} connect() failed (111: Connection refused) while connecting to upstream`,
  ),
  bash(
    'the server of Postgres',
    'pg_ctl start',
    (k) =>
      `2026-11-30 ${clock(k)}.${fraction(k, 3)} UTC [${pid(k)}] FATAL:  data directory "/var/lib/pg" has wrong ownership`,
  ),
  bash(
    'Redis',
    'redis-server',
    (k) =>
      `${pid(k)}:M 30 Nov 2026 ${clock(k)}.${fraction(k, 3)} # Could not create server TCP listening socket *:6379: bind: Address already in use`,
  ),
  bash(
    'a log of Go',
    './gosrv',
    (k) => `2026/11/30 ${clock(k)} main.go:17: listen tcp :8080: bind: address already in use`,
  ),
  bash(
    'a panic of Go',
    './gopanic',
    (k) =>
      `panic: runtime error: index out of range [5] with length 3\n\ngoroutine ${num(k, 1, 90)} [running]:\nmain.work()\n\t/repo/main.go:17 +0x1d`,
    {},
    2,
  ),
  bash(
    'Spring Boot',
    './mvnw spring-boot:run',
    (k) =>
      `${iso(k)} ERROR ${pid(k)} --- [           main] o.s.boot.SpringApplication               : Application run failed`,
  ),
  fails(
    'an error page of Spring',
    'shop__get',
    { id: 3 },
    (k) => `{"timestamp":"${iso(k).replace('Z', '+00:00')}","status":500,"error":"Internal Server Error","path":"/x"}`,
  ),
  bash(
    'Django',
    'python manage.py check',
    (k) => `[30/Nov/2026 ${clock(k)}] ERROR [django.request:241] Internal Server Error: /x`,
  ),
  bash(
    'Apache',
    'apachectl start',
    (k) =>
      `[Mon Nov 30 ${clock(k)}.${fraction(k, 6)} 2026] [core:error] [pid ${pid(k)}:tid 1402${fraction(k, 11)}] (13)Permission denied: AH00099: could not create /run/apache2.pid`,
  ),
  reads(
    'a unit that failed a while ago',
    'systemd__status',
    { unit: 'app' },
    (k) =>
      `× app.service - App\n     Active: failed (Result: exit-code) since Mon 2026-11-30 09:13:45 UTC; ${num(k, 1, 59)}min ${num(k, 1, 59, 2)}s ago\n    Process: 871 ExecStart=/app (code=exited, status=1/FAILURE)`,
  ),
  reads(
    'events of a pod',
    'k8s__events',
    { pod: 'web' },
    (k) =>
      `Warning  Failed   ${num(k, 1, 59)}s (x${4 + k} over ${num(k, 2, 9)}m${num(k, 1, 59, 2)}s)  kubelet  Error: ImagePullBackOff`,
  ),
  reads(
    'a pod that crashed some seconds ago',
    'k8s__pods',
    {},
    (k) =>
      `NAME    READY   STATUS             RESTARTS      AGE\nweb-1   0/1     CrashLoopBackOff   5 (${num(k, 3, 59)}s ago)   ${12 + k}m`,
  ),
  fails(
    'GitHub',
    'github__create_issue',
    { title: 'x' },
    (k) =>
      `POST https://api.github.com/repos/a/b/issues: 403 Resource not accessible by integration [] (x-github-request-id: ${hex(k, 4).toUpperCase()}:${hex(k, 5).toUpperCase()}:${hex(k, 7).toUpperCase()}:${hex(k, 7, 2).toUpperCase()}:${hex(k, 8).toUpperCase()})`,
  ),
  fails(
    'Notion',
    'notion__page',
    { id: '1' },
    (k) =>
      `{"object":"error","status":404,"code":"object_not_found","message":"Could not find page","developer_survey":"x","request_id":"${uuid(k)}"}`,
  ),
  fails(
    'Sentry',
    'sentry__issue',
    { id: 'A-1' },
    (k) => `API error (500): Internal error. **Event ID**: ${hex(k, 32)}`,
  ),
];
