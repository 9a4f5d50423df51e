// A command that works for a while: `node commandProgram.mjs LINES CODE [eat]`. Prints its lines, 40 ms apart, a word on stderr, and exits with its code; or takes
// memory after two lines until none is left.
const [lines, code] = process.argv.slice(2, 4).map(Number);
const eats = process.argv[4] === 'eat';
process.stderr.write('working\n');
for (let line = 1; line <= lines; line++) {
  process.stdout.write(`line ${line}\n`);
  if (eats && line === 2) for (const eaten = []; ; ) eaten.push(Array.from({ length: 10_000 }, (_, n) => n));
  await new Promise((resolve) => setTimeout(resolve, 40));
}
process.exitCode = code;
