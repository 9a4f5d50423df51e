import { failed, healthy, ok, times } from '../build.ts';
import type { Shape } from '../shape.ts';
import { hex } from './make.ts';

const edit = (round: number) => ok('edit', { path: 'main', old: hex(round, 12), new: hex(round + 500, 12) }, 'Edited.');

/** A program or a build that is mended, and fails elsewhere each time. */
const mended = (name: string, tool: string, input: unknown, message: (round: number) => string): Shape =>
  healthy(
    name,
    times(26, (round) => [edit(round), failed(tool, input, message(round))]),
  );

/** The same call, whose failures tell of other work each time. */
const onward = (name: string, tool: string, input: unknown, message: (round: number) => string): Shape =>
  healthy(
    name,
    times(30, (round) => failed(tool, input, message(round))),
  );

const exceptions = ['KeyError', 'TypeError', 'ValueError', 'ImportError', 'AttributeError', 'IndexError'];
const traceback = (round: number): string =>
  [
    'Traceback (most recent call last):',
    `  File "/srv/app/main.py", line ${20 + round * 7}, in <module>`,
    `    step_${hex(round, 4)}(rows)`,
    `${exceptions[round % 6]}: 'column_${hex(round, 6)}'`,
  ].join('\n');

const fields = ['street', 'city', 'zip', 'country', 'phone', 'tax', 'iban', 'birthday'];

export const healthyErrors: readonly Shape[] = [
  mended('python: another exception after each edit', 'run', { cmd: 'python main.py' }, traceback),
  healthy(
    'python: thirty snippets, each with a traceback of its own',
    times(30, (round) => failed('execute_python', { code: `step_${hex(round, 4)}(rows)` }, traceback(round))),
  ),
  mended(
    'maven: another symbol after each edit, under one headline',
    'maven',
    { goals: ['compile'] },
    (round) =>
      `[ERROR] COMPILATION ERROR : \n[ERROR] /C:/work/src/App.java:[${10 + round},8] cannot find symbol ` +
      `Shop${hex(round, 5)}`,
  ),
  mended(
    'dotnet build: another name after each edit, below "Build FAILED."',
    'dotnet_build',
    { project: 'C:\\work\\Shop\\Shop.csproj' },
    (round) =>
      `Build FAILED.\n\nProgram.cs(${12 + round},8): error CS0103: The name 'x${hex(round, 5)}' does not exist`,
  ),
  mended(
    'go test: another test after each edit, below "exit status 1"',
    'go_test',
    { packages: ['./...'] },
    (round) => `exit status 1\n--- FAIL: TestOrder${hex(round, 5)} (0.02s)\n    order_test.go:${40 + round}: bad sum`,
  ),
  mended(
    'a linter, mended place by place: only line and column move',
    'bash',
    { command: 'npm run lint' },
    (round) => `src/app.ts:${10 + round}:${15 + round} - error TS1005: ';' expected.`,
  ),
  mended(
    'a pipeline: another reason below "Command failed with exit code 1"',
    'run_pipeline',
    { pipeline: 'deploy', ref: 'main' },
    (round) =>
      `Command failed with exit code 1:\nstderr: stage ${hex(round, 6)}: variable ${hex(round + 90, 6)} is unset`,
  ),
  mended(
    'java: another cause below the same exception',
    'run_java',
    { jar: 'shop.jar' },
    (round) =>
      'Exception in thread "main" java.lang.RuntimeException: start failed\n' +
      `\tat shop.Main.main(Main.java:17)\nCaused by: shop.Missing: bean ${hex(round, 6)}`,
  ),
  onward('a list: each call takes the next item, and each fails', 'process_next', {}, (round) => {
    return `item ${round + 1}: bad encoding`;
  }),
  onward(
    'a download that is resumed, and comes further each time',
    'download',
    { url: 'https://files.example/big.iso', resume: true },
    (round) => `curl: (18) transfer closed with ${9_812_311 - round * 210_043} bytes remaining to read`,
  ),
  onward('an upload whose bar comes further each time', 'upload', { file: 'film.mkv' }, (round) => {
    return `[>---] ${round * 3}% 0 MB\r[#>--] ${round * 3 + 2}% ${round * 3 + 2}/100 MB: connection reset by peer`;
  }),
  mended(
    'psql: the same complaint at another statement after each edit',
    'psql',
    { file: 'migrate.sql' },
    (round) => `ERROR:  syntax error at or near ")"\nLINE ${14 + round * 3}: );`,
  ),
  mended(
    'kubectl apply: another field is unknown each time',
    'kubectl',
    { args: ['apply', '-f', 'web.yaml'] },
    (round) => {
      return `error: error validating "web.yaml": unknown field "spec.${hex(round, 7)}"`;
    },
  ),
  mended(
    'a chinese compiler: only the line moves',
    'compile',
    { target: '主程序' },
    (round) => `第${12 + round}行：语法错误`,
  ),
  mended('a german checker: only the line moves', 'pruefe', { datei: 'rechnung.xml' }, (round) => {
    return `Fehler in Zeile ${12 + round}: schließendes Element erwartet`;
  }),
  healthy(
    'a form in the browser: each answer names another field',
    times(24, (round) =>
      failed(
        'submit_form',
        { form: 'order', values: { [fields[round % 8] ?? '']: hex(round, 8) } },
        `<!DOCTYPE html>\n<html lang="fr">\n<body><p class="error">Le champ « ${fields[(round + 1) % 8]} ${hex(round, 3)} » ` +
          'est obligatoire.</p></body></html>',
      ),
    ),
  ),
  onward('a robot that feels its way: the obstacle is elsewhere each time', 'move_forward', {}, (round) => {
    return `blocked: obstacle at ${round + 3} m`;
  }),
  onward('a server that tries the next port each time', 'start_server', { port: 'auto' }, (round) => {
    return `listen EADDRINUSE: address already in use :::${8_081 + round}`;
  }),
  healthy(
    'a batch of scans: seven of ten have no text',
    times(60, (round) =>
      round % 10 < 7
        ? failed('extract_text', { file: `scan-${round}.pdf` }, 'the document has no text layer')
        : ok('extract_text', { file: `scan-${round}.pdf` }, `Invoice ${round}`),
    ),
  ),
];
