#!/usr/bin/env bash
# Seen with: cockatiel 4.0.0, Node 22.23.3
# Guess: what a listener of `onSuccess` does is no part of the call that it hears of.
# Seen: where it throws, the call that succeeded is rejected with its error, counts as a failure of the policy, and in a row opens the circuit.
# Matters: to whoever counts or logs in listeners: a fault of the metrics cuts off a service that is well.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund cockatiel@4.0.0
cat >see.mjs <<'JS'
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel';

const policy = circuitBreaker(handleAll, { halfOpenAfter: 60_000, breaker: new ConsecutiveBreaker(2) });
policy.onSuccess(() => {
  throw new Error('of the listener');
});
let made = 0;
for (let call = 0; call < 3; call++) {
  const ended = await policy.execute(() => ++made).then(String, (error) => error.message);
  console.log(`${made} made, ${CircuitState[policy.state]}: ${ended}`);
}
JS
seen=$(node see.mjs)
echo "$seen"
if [ "$seen" != '1 made, Closed: of the listener
2 made, Open: of the listener
2 made, Open: Execution prevented because the circuit breaker is open' ]; then
  echo 'This has changed.' >&2
  exit 1
fi
