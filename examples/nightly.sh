#!/bin/sh
# nightly.sh: a report by an agent, once a day. Beside it: prompt.txt, and unwedge by `npm install`. docs/guides/cron.md explains it.
set -u
umask 077
cd "$(dirname "$0")" || exit 125
report=report-$(date +%F).jsonl
[ -e "$report" ] && exit 0

# One at a time: the lock is free when this script and unwedge have ended, however they end.
exec 9>nightly.lock
flock -n -E 75 9 || exit $?

# Three attempts of ten minutes each, and half an hour in all. Only stream-json tells what an attempt has done.
./node_modules/.bin/unwedge run --name nightly-report --timeout 30m --attempt-timeout 10m --attempts 3 --prompt-file prompt.txt \
  -- claude -p --output-format stream-json --verbose >"$report.part" 2>>nightly.log
code=$?

# What is printed here cron sends by mail.
case $code in
  0) mv "$report.part" "$report" ;;
  75) ;; # try again later: the next hour does
  *) echo "nightly-report: exit $code" && tail -n 5 nightly.log ;;
esac
exit "$code"
