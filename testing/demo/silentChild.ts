// Starts to work, and is never heard of again.
process.stdout.write('working on it\n');
setInterval(() => undefined, 1_000_000);
