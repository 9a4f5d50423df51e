import type { SpinningShape } from '../shape.ts';
import { bash, clock, fraction, hex, iso, millis, moment, num, pid, seconds } from './make.ts';

const npmLog = (index: number): string =>
  `/root/.npm/_logs/${iso(index).slice(0, 10)}T${clock(index).replaceAll(':', '_')}_${fraction(index, 3)}Z-debug-0.log`;
const refused = 'connect ECONNREFUSED 127.0.0.1:9';
const address = (index: number, salt = 0): string => `0x7f${hex(index, 10, salt)}`;

/** Commands that fail for ever, with what real programs wrote twice and what changed by itself. */
export const spinningPrograms: readonly SpinningShape[] = [
  bash('kubectl of a closed server', 'kubectl get pods', (k) =>
    Array.from(
      { length: 3 },
      (_, line) =>
        `E1130 ${clock(k)}.${fraction(k + line, 6)}   ${pid(k)} memcache.go:265] "Unhandled Error" err="couldn't get current server API group list: Get \\"http://127.0.0.1:9/api?timeout=32s\\": dial tcp 127.0.0.1:9: connect: connection refused"`,
    ).join('\n'),
  ),
  bash(
    'git push with its trace',
    'GIT_TRACE=1 git push origin main',
    (k) =>
      `${clock(k)}.${fraction(k, 6)} git.c:460               trace: built-in: git push origin main\n${clock(k)}.${fraction(k + 1, 6)} run-command.c:655       trace: run_command: git remote-http\nfatal: unable to access 'http://127.0.0.1:9/x.git/': Failed to connect to 127.0.0.1 port 9 after ${millis(k)} ms: Couldn't connect to server`,
    {},
    128,
  ),
  bash(
    'npm install that names its log',
    'npm install left-pad-x',
    (k) =>
      `npm error code ECONNREFUSED\nnpm error FetchError: request to http://127.0.0.1:9/left-pad-x failed, reason: ${refused}\nnpm error A complete log of this run can be found in: ${npmLog(k)}`,
  ),
  bash(
    'npm test told verbosely',
    'npm test --loglevel verbose',
    (k) =>
      `npm verbose logfile logs-max:10 dir:${npmLog(k).replace('debug-0.log', '')}\nnpm verbose logfile ${npmLog(k)}\n\n> p@1.0.0 test\n> node t.js\n\nError: boom\n    at Timeout._onTimeout (/repo/t.js:1:23)\nnpm verbose exit 1`,
  ),
  bash(
    'wget of a closed port',
    'wget -t 1 http://127.0.0.1:9/x',
    (k) =>
      `--${iso(k).slice(0, 10)} ${clock(k)}--  http://127.0.0.1:9/x\nConnecting to 127.0.0.1:9... failed: Connection refused.`,
  ),
  bash(
    'curl that says after how long',
    'curl -sS http://127.0.0.1:9/',
    (k) => `curl: (7) Failed to connect to 127.0.0.1 port 9 after ${millis(k)} ms: Couldn't connect to server`,
    {},
    7,
  ),
  bash(
    'curl with its table of progress',
    'curl http://10.0.0.9/',
    (k) =>
      `  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n  0     0    0     0    0     0      0      0 --:--:--  0:02:${num(k, 10, 14)} --:--:--     0\ncurl: (28) Failed to connect to 10.0.0.9 port 80 after ${134_000 + millis(k)} ms: Couldn't connect to server`,
    {},
    28,
  ),
  bash(
    'a panic of a thread with its id',
    'cargo run',
    (k) =>
      `    Finished \`dev\` profile [unoptimized + debuginfo] target(s) in ${seconds(k)}s\n     Running \`target/debug/cr\`\n\nthread 'main' (${pid(k)}) panicked at src/main.rs:1:53:\ncalled \`Result::unwrap()\` on an \`Err\` value: Any { .. }`,
    {},
    101,
  ),
  bash(
    'cargo test',
    'cargo test',
    (k) =>
      `    Finished \`test\` profile [unoptimized + debuginfo] target(s) in ${seconds(k)}s\n     Running unittests src/main.rs (target/debug/deps/cr-3baf051e1a49d4ec)\n\nrunning 1 test\ntest a ... FAILED\n\n---- a stdout ----\n\nthread 'a' (${pid(k)}) panicked at src/main.rs:2:8:\nassertion \`left == right\` failed\n  left: 1\n right: 2\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in ${seconds(k + 3)}s`,
    {},
    101,
  ),
  bash(
    'java with its own log',
    'java -jar app.jar',
    (k) =>
      `Nov 30, 2026 ${moment(k).toLocaleTimeString('en-US', { timeZone: 'UTC' })} com.example.Main main\nSEVERE: down\nException in thread "main" java.net.ConnectException: Connection refused\n\tat java.base/sun.nio.ch.Net.connect0(Native Method)`,
  ),
  bash(
    'a shell that tells of a killed child',
    './build.sh',
    (k) => `./build.sh: line 12: ${pid(k)} Killed                  node --max-old-space-size=512 build.js`,
    {},
    137,
  ),
  bash(
    'a segmentation fault',
    './run.sh',
    (k) => `./run.sh: line 3: ${pid(k)} Segmentation fault      (core dumped) ./m3`,
    {},
    139,
  ),
  bash(
    'an address sanitizer',
    './m3a',
    (k) =>
      `AddressSanitizer:DEADLYSIGNAL\n=================================================================\n==${pid(k)}==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (T0)\n==${pid(k)}==The signal is caused by a WRITE memory access.\n==${pid(k)}==ABORTING`,
  ),
  bash(
    'valgrind',
    'valgrind ./m3',
    (k) =>
      `==${pid(k)}== Memcheck, a memory error detector\n==${pid(k)}== Invalid write of size 4\n==${pid(k)}==    at 0x109131: main (m3.c:1)\n==${pid(k)}== ERROR SUMMARY: 1 errors from 1 contexts (suppressed: 0 from 0)`,
  ),
  bash(
    'a command that is timed',
    'time ls /nope',
    (k) =>
      `ls: cannot access '/nope': No such file or directory\n\nreal\t0m0.0${num(k, 10, 99)}s\nuser\t0m0.00${num(k, 1, 9)}s\nsys\t0m0.00${num(k, 1, 9, 2)}s`,
    {},
    2,
  ),
  bash(
    'make that prints the date',
    'make',
    (k) =>
      `${moment(k).toUTCString().slice(0, 3)} Nov 30 ${clock(k)} UTC 2026\nfalse\nmake: *** [Makefile:3: all] Error 1`,
    {},
    2,
  ),
  bash(
    'vitest in colours',
    'npx vitest run',
    (k) =>
      `\u001b[1m\u001b[30m\u001b[46m RUN \u001b[49m\u001b[39m\u001b[22m \u001b[36mv4.1.12 \u001b[39m\u001b[90m/repo\u001b[39m\n\n \u001b[31m❯\u001b[39m v.test.ts \u001b[2m(\u001b[22m\u001b[2m2 tests\u001b[22m\u001b[2m | \u001b[22m\u001b[31m2 failed\u001b[39m\u001b[2m)\u001b[22m\u001b[32m ${millis(k)}\u001b[2mms\u001b[22m\u001b[39m\nAssertionError: expected 1 to be 2\n\u001b[2m   Start at \u001b[22m ${clock(k)}\n\u001b[2m   Duration \u001b[22m ${seconds(k)}s\u001b[2m (transform ${millis(k + 1)}ms, setup 0ms, import ${millis(k + 2)}ms, tests ${millis(k + 3)}ms, environment 0ms)\u001b[22m`,
  ),
  bash(
    'node --test with durations of its own',
    'node --test',
    (k) =>
      `TAP version 13\n# Subtest: a\nnot ok 1 - a\n  ---\n  duration_ms: ${num(k, 10, 40)}.${fraction(k, 6)}\n  error: '1 == 2'\n  ...\n1..1\n# fail 1\n# duration_ms ${num(k, 400, 1100)}.${fraction(k + 1, 5)}`,
  ),
  bash(
    'pytest',
    'pytest -q test_x.py',
    (k) =>
      `F                                                                        [100%]\nE       assert 1 == 2\nFAILED test_x.py::test_a - assert 1 == 2\n1 failed in ${seconds(k)}s`,
  ),
  bash(
    'unittest',
    'python3 ut.py',
    (k) =>
      `F\n======\nFAIL: test_a (__main__.T)\nAssertionError: 1 != 2\n\n------\nRan 1 test in 0.00${num(k, 0, 9)}s\n\nFAILED (failures=1)`,
  ),
  bash(
    'strace with times',
    'strace -tt cat /nope',
    (k) =>
      `${clock(k)}.${fraction(k, 6)} openat(AT_FDCWD, "/nope", O_RDONLY) = -1 ENOENT (No such file or directory)\n${clock(k)}.${fraction(k + 1, 6)} +++ exited with 1 +++`,
  ),
  bash(
    'biome in milliseconds or microseconds',
    'npx biome check b.ts',
    (k) =>
      `b.ts:1:1 lint/style/noVar ━━━\n  × Use let or const instead of var.\nChecked 1 file in ${k % 3 === 0 ? `${num(k, 300, 990)}µs` : `${num(k, 1, 9)}ms`}. No fixes applied.`,
  ),
  bash(
    'go test',
    'go test ./...',
    (k) =>
      `--- FAIL: TestSum (0.0${num(k, 0, 9)}s)\n    sum_test.go:12: got 3, want 4\nFAIL\nFAIL\texample.com/sum\t0.${fraction(k, 3)}s`,
  ),
  bash(
    'a heap that is full',
    'node build.js',
    (k) =>
      `\n<--- Last few GCs --->\n\n[${pid(k)}:0x${hex(k, 7)}]      ${millis(k)} ms: Mark-Compact 9.6 (14.0) -> 8.9 (17.7) MB, ${num(k, 10, 40)}.${num(k, 10, 99)} / 0.00 ms  (average mu = 1.000, current mu = 1.000) allocation failure; scavenge might not succeed\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory`,
    {},
    134,
  ),
  bash(
    'requests of Python, with an address',
    'python3 fetch.py',
    (k) =>
      `requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=9): Max retries exceeded with url: /x (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at ${address(k)}>: Failed to establish a new connection: [Errno 111] Connection refused'))`,
  ),
  bash(
    'gunicorn',
    'gunicorn app:app',
    (k) =>
      `[${iso(k).slice(0, 10)} ${clock(k)} +0000] [${pid(k)}] [INFO] Starting gunicorn 23.0.0\n[${iso(k).slice(0, 10)} ${clock(k)} +0000] [${pid(k)}] [ERROR] Connection in use: ('0.0.0.0', 8000)`,
  ),
  bash(
    'jest',
    'npx jest',
    (k) =>
      `FAIL src/a.test.js\n  ✕ adds (${num(k, 1, 30)} ms)\nExpected: 2\nReceived: 1\nTests:       1 failed, 1 total\nTime:        ${seconds(k)} s, estimated ${num(k, 1, 4)} s`,
  ),
];
