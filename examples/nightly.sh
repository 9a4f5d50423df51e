#!/bin/sh
# nightly.sh: a report by an agent, once a day. Beside it lie prompt.txt and node_modules; docs/guides/cron.md has its lines of the crontab.
umask 077
cd "$(dirname "$0")" || exit 125
report=report-$(date +%F).jsonl
[ -e "$report" ] && exit 0

# One at a time. The lock is free again when all of this has ended, however.
exec 9>nightly.lock
flock -n -E 75 9 || exit $?

# Three attempts of ten minutes each, and half an hour in all. Only stream-json tells what an attempt has done.
./node_modules/.bin/unwedge run --name nightly-report --timeout 30m --attempt-timeout 10m --attempts 3 --prompt-file prompt.txt \
  -- claude -p --output-format stream-json --verbose >"$report.part" 2>>nightly.log
code=$?

# What is printed here cron sends by mail. 75 means: try again later. The next hour does.
case $code in
  0) mv "$report.part" "$report" ;;
  75) ;;
  *) echo "nightly-report: exit $code" && tail -n 5 nightly.log ;;
esac
exit "$code"
