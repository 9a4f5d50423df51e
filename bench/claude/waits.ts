// Reads its input, and then does nothing until it is ended.
process.stdin.resume();
setInterval(() => undefined, 60_000);
