import { spawn } from 'node:child_process';

// The least that can stand in between: starts the command it is given and pipes both ways, reading nothing.
const [program = '', ...words] = process.argv.slice(2);
const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.stdin.on('error', () => undefined);
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
