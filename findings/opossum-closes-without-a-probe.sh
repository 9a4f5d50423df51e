#!/usr/bin/env bash
# Seen with: opossum 10.0.0, Node 22.23.3
# Guess: a half-open circuit closes when the call that it lets through as a trial succeeds.
# Seen: a call that began before the circuit opened, and succeeds while it is half-open, closes it: no trial was made.
# Matters: to whoever has slow calls beside failing ones: all callers are let through on the word of an answer from before the outage.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund opossum@10.0.0
cat >see.cjs <<'JS'
const CircuitBreaker = require('opossum');
const { setTimeout: wait } = require('node:timers/promises');

(async () => {
  let answer;
  const calls = [];
  const action = async (name) => {
    calls.push(name);
    if (name === 'slow') return new Promise((resolve) => (answer = resolve));
    throw new Error('down');
  };
  const breaker = new CircuitBreaker(action, { timeout: false, resetTimeout: 50 });
  const state = () => (breaker.opened ? 'open' : breaker.halfOpen ? 'half-open' : 'closed');
  const slow = breaker.fire('slow');
  for (let call = 0; call < 2; call++) await breaker.fire('fails').catch(() => {});
  const opened = state();
  await wait(100);
  const tried = state();
  answer('from before');
  await slow;
  console.log(`${opened}, ${tried}, ${state()} after the calls ${calls.join(', ')}`);
})();
JS
seen=$(node see.cjs)
echo "$seen"
if [ "$seen" != 'open, half-open, closed after the calls slow, fails, fails' ]; then
  echo 'This has changed.' >&2
  exit 1
fi
