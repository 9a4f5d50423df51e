#!/bin/sh
# nightly.sh: a report by an agent, once a day. Beside it lie prompt.txt and node_modules; docs/guides/cron.md has its lines of the crontab.
umask 077
cd "$(dirname "$0")" || exit 125
report=report-$(date +%F).json
[ -e "$report" ] && exit 0

# One at a time. The lock is free again when all of this has ended, however.
exec 9>nightly.lock
flock -n -E 75 9 || exit $?

# It stays where a run was killed or may have changed something. Until you delete it the work of the day is not begun anew.
begun=$report.begun
[ -e "$begun" ] && exit 0
echo "$(date '+%F %T') begun" | tee -a nightly.log >"$begun"
trap : INT HUP TERM # Ctrl-C ends the run. What follows is done all the same.

# Three attempts of ten minutes each, and half an hour in all. Only stream-json tells what an attempt has done.
./node_modules/.bin/unwedge run --json --name nightly-report --timeout 30m --attempt-timeout 10m --attempts 3 --prompt-file prompt.txt \
  -- claude -p --output-format stream-json --verbose >"$report.part" 2>last-run.log
code=$?
# All is done, nothing was changed, or nothing was started (no prompt.txt, no node).
[ "$code" = 0 ] && mv "$report.part" "$report" && rm "$begun"
grep -qs ',"effects":"none","session_id":' "$report.part" && rm "$begun"
case $code in 125 | 126 | 127) [ -s "$report.part" ] || rm -f "$begun" ;; esac
echo "$(date '+%F %T') exit $code $(tail -n 2 last-run.log | tr '\n' ' ')" >>nightly.log

# What is printed here cron sends by mail. 75 means: try again later. The next hour does, where nothing was changed.
[ "$code" = 75 ] && [ ! -e "$begun" ] && exit 75
[ "$code" = 0 ] && exit 0
echo "nightly-report: exit $code" && tail -n 5 last-run.log
[ -e "$begun" ] && echo "It is not begun anew today unless you delete $PWD/$begun"
exit "$code"
