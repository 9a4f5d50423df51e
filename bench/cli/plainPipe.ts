import { spawn } from 'node:child_process';

// What there is without us: starts the command it is given and passes its output on.
const [program = '', ...words] = process.argv.slice(2);
const child = spawn(program, words, { stdio: ['inherit', 'pipe', 'pipe'] });
child.stdout.pipe(process.stdout);
child.stderr.pipe(process.stderr);
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
